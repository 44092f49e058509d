// Diagnoses of inputs: each is of the file it was read from, and the ranks of one program are one.
#include "engine/ranks/each_diagnosis.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// What became of one diagnosis.
struct Used {
  std::string input;
  std::string path;  ///< Of the file that opens its session again.
  std::size_t argument = 0;
  bool several = false;
  std::string open;  ///< The session that was passed on, or "".
  std::size_t ranks = 0;
};

class EachDiagnosis : public testing::Test {
 public:
  EachDiagnosis() {
    std::string pattern = (fs::temp_directory_path() / "fathom_each_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~EachDiagnosis() override { fs::remove_all(folder_); }
  EachDiagnosis(const EachDiagnosis&) = delete;
  EachDiagnosis& operator=(const EachDiagnosis&) = delete;

 protected:
  /// A trace of three steps of `ms` each; of that rank of two, if any.
  std::string trace(const std::string& name, int ms, int rank = -1) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream file(path);
    file << "{";
    if (rank >= 0)
      file << R"("distributedInfo": {"backend": "nccl", "rank": )" << rank
           << R"(, "world_size": 2}, )";
    file << R"("traceEvents": [)";
    for (int step = 0; step < 3; ++step) {
      const int at = step * ms * 1000;
      file << (step == 0 ? "" : ",")
           << R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" << step
           << R"(", "pid": 1, "tid": 1, "ts": )" << at << R"(, "dur": )" << ms * 1000 << "},"
           << R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": )"
           << at + 10 << R"(, "dur": )" << ms * 900 << "}";
    }
    file << "]}";
    return path.string();
  }
  void diagnose(const std::vector<std::string>& arguments) {
    const Result<Inputs> inputs = expand_inputs(arguments);
    ASSERT_TRUE(inputs) << inputs.error().message;
    diagnose(*inputs);
  }
  /// How many of the sessions that were opened are still in memory.
  [[nodiscard]] std::size_t alive() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(opened_, [](const auto& session) { return !session.expired(); }));
  }
  void diagnose(const Inputs& inputs) {
    const auto open = [this](const Inputs::File& file) {
      Result<SharedSession> session = open_session(file, {.threads = 1});
      if (session) opened_.push_back(*session);
      most_alive_ = std::max(most_alive_, alive());
      return session;
    };
    const InputHandlers handlers = {
        .open = open,
        .skipped = [this](const Error& error) { skipped_.push_back(error.message); },
        .failed = [this](const Error& error) { failed_.push_back(error.message); }};
    for_each_diagnosis(
        inputs, request_, handlers,
        [this](const InputDiagnosis& one) -> Result<Proceed> {
          used_.push_back({.input = one.diagnosis.input,
                           .path = one.file.path,
                           .argument = one.file.argument,
                           .several = one.several,
                           .open = one.session != nullptr ? one.session->input() : "",
                           .ranks = one.diagnosis.ranks ? one.diagnosis.ranks->rows.size() : 0});
          return Proceed::next;
        },
        beside_);
  }

  fs::path folder_;
  DiagnosisRequest request_;
  BesideDiagnosis beside_;
  std::vector<std::weak_ptr<const Session>> opened_;
  std::size_t most_alive_ = 0;
  std::vector<Used> used_;
  std::vector<std::string> skipped_;
  std::vector<std::string> failed_;
};

TEST_F(EachDiagnosis, TwoFilesOfOneBasenameAreToldApart) {
  const std::string a = trace("a/trace.json", 10);
  const std::string b = trace("b/trace.json", 20);
  diagnose({a, b});
  ASSERT_EQ(used_.size(), 2U);
  EXPECT_EQ(used_[0].path, a);
  EXPECT_EQ(used_[1].path, b);
  EXPECT_EQ(used_[1].input, b);
  EXPECT_TRUE(used_[0].several);
}

TEST_F(EachDiagnosis, TheSameFileTwiceIsTwoInputs) {
  const std::string a = trace("a.json", 10, 0);
  diagnose({a, a});
  ASSERT_EQ(used_.size(), 2U);
  EXPECT_EQ(used_[0].argument, 0U);
  EXPECT_EQ(used_[1].argument, 1U);
  EXPECT_EQ(used_[1].path, a);
}

TEST_F(EachDiagnosis, InputsThatAreCalledAlikeAreThoseThatWereOpened) {
  Inputs inputs;
  inputs.arguments = {"runs"};
  inputs.several = true;
  for (const int rank : {0, 1}) {
    inputs.files.push_back({.path = trace("rank" + std::to_string(rank) + ".json", 10 + rank, rank),
                            .shown = "a run"});
  }
  diagnose(inputs);
  ASSERT_EQ(used_.size(), 1U);
  EXPECT_EQ(used_[0].ranks, 2U);
  // The one with the longest steps.
  EXPECT_EQ(used_[0].path, inputs.files[1].path);
}

TEST_F(EachDiagnosis, ASessionThatIsCalledOtherwiseThanItsInputIsDiagnosed) {
  Inputs inputs;
  inputs.arguments = {"a"};
  inputs.files.push_back({.path = trace("a.json", 10), .shown = "the name of nothing"});
  diagnose(inputs);
  ASSERT_EQ(used_.size(), 1U);
  EXPECT_EQ(used_[0].path, inputs.files[0].path);
}

TEST_F(EachDiagnosis, WhereNoFileIsATraceThatIsSaidOnce) {
  fs::create_directory(folder_ / "notes");
  std::ofstream(folder_ / "notes" / "a.txt") << "nothing";
  std::ofstream(folder_ / "notes" / "b.txt") << "nothing";
  diagnose({(folder_ / "notes").string()});
  EXPECT_TRUE(used_.empty());
  EXPECT_EQ(skipped_.size(), 2U);
  ASSERT_EQ(failed_.size(), 1U);
  EXPECT_EQ(failed_[0],
            (folder_ / "notes").string() + ": none of its files is a trace that Fathom can read");
}

TEST_F(EachDiagnosis, WithoutAnyFileNothingIsDiagnosed) {
  diagnose(Inputs());
  EXPECT_TRUE(used_.empty());
}

TEST_F(EachDiagnosis, RanksInAFolderAreOneProgramAndOthersStandAlone) {
  trace("ranks/rank0.json", 10, 0);
  trace("ranks/rank1.json", 20, 1);
  diagnose({(folder_ / "ranks").string()});
  ASSERT_EQ(used_.size(), 1U);
  EXPECT_EQ(used_[0].input, (folder_ / "ranks").string());
  EXPECT_FALSE(used_[0].several);
  used_.clear();
  trace("ranks/rank2.json", 30);
  diagnose({(folder_ / "ranks").string()});
  ASSERT_EQ(used_.size(), 3U);
  EXPECT_TRUE(used_[0].several);
  EXPECT_TRUE(used_[0].path.ends_with("rank0.json"));
  EXPECT_TRUE(used_[1].path.ends_with("rank1.json"));
  EXPECT_TRUE(used_[2].path.ends_with("rank2.json"));
}

TEST_F(EachDiagnosis, ARankIsChosenAmongThoseThereAre) {
  trace("ranks/rank0.json", 20, 0);
  trace("ranks/rank1.json", 10, 1);
  request_.rank = 1;
  diagnose({(folder_ / "ranks").string()});
  ASSERT_EQ(used_.size(), 1U);
  EXPECT_TRUE(used_[0].path.ends_with("rank1.json"));
  request_.rank = 7;
  diagnose({(folder_ / "ranks").string()});
  EXPECT_EQ(used_.size(), 1U);
  ASSERT_EQ(failed_.size(), 1U);
  EXPECT_EQ(failed_[0], "there is no rank 7; there is rank 0, rank 1");
}

TEST_F(EachDiagnosis, TheRankThatIsDiagnosedIsStillOpenWhereThatIsWished) {
  for (int rank = 0; rank < 4; ++rank)
    trace("ranks/rank" + std::to_string(rank) + ".json", rank == 2 ? 20 : 10 + rank, rank);
  diagnose({(folder_ / "ranks").string()});
  EXPECT_EQ(most_alive_, 1U);
  ASSERT_EQ(used_.size(), 1U);
  EXPECT_EQ(used_[0].open, "");

  std::vector<std::string> each;
  beside_.each = [&each](const Session& session, const Inputs::File& file, const Diagnosis& one) {
    EXPECT_EQ(session.input(), file.path);
    EXPECT_EQ(one.input, file.path);
    each.push_back(fs::path(file.path).filename());
  };
  beside_.keep_diagnosed = true;
  for (const std::int64_t rank : {-1, 0, 1, 3}) {
    used_.clear();
    each.clear();
    most_alive_ = 0;
    if (rank >= 0) request_.rank = rank;
    diagnose({(folder_ / "ranks").string()});
    ASSERT_EQ(used_.size(), 1U);
    EXPECT_TRUE(used_[0].path.ends_with("rank" + std::to_string(rank < 0 ? 2 : rank) + ".json"));
    EXPECT_EQ(used_[0].open, used_[0].path);
    EXPECT_LE(most_alive_, 2U) << rank;
    EXPECT_EQ(alive(), 0U);
    EXPECT_EQ(each,
              (std::vector<std::string>{"rank0.json", "rank1.json", "rank2.json", "rank3.json"}));
  }
}

}  // namespace
}  // namespace fathom
