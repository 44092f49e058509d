// Programs that are recorded, as their outcome and their session folder show it.
#include "record/run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace fathom::record {
namespace {

namespace fs = std::filesystem;

class RecordRun : public testing::Test {
 public:
  RecordRun() = default;
  ~RecordRun() override { fs::remove_all(folder_); }
  RecordRun(const RecordRun&) = delete;
  RecordRun& operator=(const RecordRun&) = delete;

 protected:
  Result<RunOutcome> run(std::vector<std::string> command) {
    options_.command = std::move(command);
    return record_run(options_,
                      {.progress = [this](const std::string& text) { progress_.push_back(text); },
                       .warning = [this](const std::string& text) { warnings_.push_back(text); },
                       .error = [this](const std::string& text) { errors_.push_back(text); }});
  }
  [[nodiscard]] std::string session() const { return (folder_ / "run").string(); }
  [[nodiscard]] std::string manifest() const {
    std::ifstream file(session() + "/manifest.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] bool said(const std::string& text) const {
    return std::ranges::find(progress_, text) != progress_.end();
  }

  static fs::path make_folder() {
    std::string pattern = (fs::temp_directory_path() / "fathom_record_XXXXXX").string();
    return mkdtemp(pattern.data());
  }

  fs::path folder_ = make_folder();
  RunOptions options_{.output = session(), .telemetry_hz = 0, .version = "1.2"};
  std::vector<std::string> progress_;
  std::vector<std::string> warnings_;
  std::vector<std::string> errors_;
};

TEST_F(RecordRun, ACommandLeavesASessionFolder) {
  const Result<RunOutcome> outcome = run({"true"});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE((*outcome).started);
  EXPECT_EQ((*outcome).exit_code, 0);
  EXPECT_EQ((*outcome).folder, session());
  ASSERT_EQ((*outcome).manifest.processes.size(), 1U);
  EXPECT_TRUE(said("recording into " + session()));
  EXPECT_TRUE(fs::exists(session() + "/monitor.fathom"));
  EXPECT_NE(manifest().find("\"1.2\""), std::string::npos);
  EXPECT_NE(manifest().find("ended_unix_ns"), std::string::npos);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(RecordRun, TheExitCodeIsTheProgramsAndIsReported) {
  const Result<RunOutcome> outcome = run({"sh", "-c", "exit 7"});
  ASSERT_TRUE(outcome);
  EXPECT_EQ((*outcome).exit_code, 7);
  EXPECT_TRUE(said("the program ended with exit code 7"));
}

TEST_F(RecordRun, ASignalIsTheExitCodeOfAShell) {
  const Result<RunOutcome> outcome = run({"sh", "-c", "kill -TERM $$"});
  ASSERT_TRUE(outcome);
  EXPECT_EQ((*outcome).exit_code, 143);
  EXPECT_TRUE(said("the program was ended by SIGTERM (exit code 143)"));
}

TEST_F(RecordRun, ACommandThatThereIsNotLeavesNothingBehind) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  options_.output.clear();
  const Result<RunOutcome> outcome = run({"/no/such/program"});
  fs::current_path(before);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE((*outcome).started);
  EXPECT_EQ((*outcome).exit_code, 127);
  EXPECT_EQ(errors_.size(), 1U);
  EXPECT_FALSE(fs::exists((*outcome).folder));
}

TEST_F(RecordRun, AFolderThatWasNamedSaysWhenNothingRan) {
  const Result<RunOutcome> outcome = run({"/no/such/program"});
  ASSERT_TRUE(outcome);
  EXPECT_EQ((*outcome).exit_code, 127);
  EXPECT_NE(manifest().find("/no/such/program"), std::string::npos);
}

TEST_F(RecordRun, AFolderThatIsNotEmptyIsNotRecordedInto) {
  fs::create_directory(session());
  std::ofstream(session() + "/mine") << "text";
  const Result<RunOutcome> outcome = run({"touch", (folder_ / "ran").string()});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
}

TEST_F(RecordRun, WhatTelemetryCannotRecordIsNamedWithWhatIsLost) {
  options_.telemetry_hz = 100;
  const Result<RunOutcome> outcome = run({"true"});
  ASSERT_TRUE(outcome);
  const capture::Manifest& manifest = (*outcome).manifest;
  const bool without_gpus =
      std::ranges::find(manifest.not_recorded, "GPU telemetry", &capture::NotRecorded::what) !=
      manifest.not_recorded.end();
  EXPECT_NE(without_gpus, !manifest.gpus.empty());
  for (const capture::NotRecorded& line : manifest.not_recorded) {
    // A library that this build does not carry is no matter of telemetry.
    if (line.why.starts_with("this fathom was built without")) continue;
    EXPECT_FALSE(line.lost.empty()) << line.what;
  }
}

}  // namespace
}  // namespace fathom::record
