#include "engine/inputs/run_folder.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "engine/inputs/inputs.h"
#include "engine/session.h"
#include "store/validate.h"
#include "wire/writer.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifest =
    R"({"schema": "fathom-run/1", "command": ["python", "a.py"], "host": {"cores": 2, "cgroup": {"version": 2}},
        "started_unix_ns": 1, "ended_unix_ns": 2,
        "processes": [{"pid": 10, "parent": 1, "role": "main", "command": ["python", "a.py"], "exit": 3, "wall_ns": 7}]})";

class RunFolder : public testing::Test {
 public:
  RunFolder() {
    std::string pattern = (fs::temp_directory_path() / "fathom_run_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~RunFolder() override { fs::remove_all(folder_); }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

 protected:
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  /// A capture file of a process with one annotation.
  void capture(const std::string& name, std::int32_t pid, std::int32_t parent, std::int32_t rank,
               std::string_view role) const {
    Result<std::unique_ptr<wire::Writer>> writer = wire::Writer::open((folder_ / name).string());
    ASSERT_TRUE(writer);
    const std::int64_t now = wire::monotonic_ns();
    (*writer)->process(now, pid, parent, rank, "python", role);
    (*writer)->slice(now, 1000, pid, pid, "of " + std::to_string(pid), "annotation");
    (*writer)->fact(pid, "seed", std::to_string(pid));
  }
  void monitor() const {
    Result<std::unique_ptr<wire::Writer>> writer =
        wire::Writer::open((folder_ / "monitor.fathom").string());
    ASSERT_TRUE(writer);
    (*writer)->sample(wire::monotonic_ns(), (*writer)->counter(0, -1, "load", "processes"), 1);
  }
  /// A trace of torch.profiler around this moment.
  void torch(const std::string& name, int pid) const {
    const std::string id = std::to_string(pid);
    const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
    write(name,
          R"({"baseTimeNanoseconds": )" + std::to_string(now - 3'600'000'000'000) +
              R"(, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": )" + id +
              R"(, "tid": )" + id + R"(, "ts": 0, "dur": 7200000000}]})");
  }

  [[nodiscard]] std::vector<RunRecording> recordings() const {
    return find_recordings(folder_.string()).value_or(std::vector<RunRecording>());
  }
  static std::string names(const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths) text += fs::path(path).filename().string() + " ";
    return text;
  }
  [[nodiscard]] Trace open() const {
    const std::vector<RunRecording> found = recordings();
    EXPECT_EQ(found.size(), 1U);
    Result<Trace> trace = read_run(found.front(), {});
    EXPECT_TRUE(trace.ok()) << (trace ? "" : trace.error().message);
    if (!trace) return {};
    EXPECT_EQ(broken_promise(*trace), "");
    return std::move(*trace);
  }
  static std::string warnings(const Trace& trace) {
    const Fact* const fact = trace.fact("WARNING");
    return fact == nullptr ? "" : fact->value;
  }

  fs::path folder_;
};

TEST_F(RunFolder, TheManifestMakesAFolderASession) {
  EXPECT_FALSE(find_recordings(folder_.string()));
  write("manifest.json", R"({"schema": "something/1"})");
  EXPECT_FALSE(find_recordings(folder_.string()));
  write("manifest.json", kManifest);
  EXPECT_TRUE(find_recordings(folder_.string()));
}

TEST_F(RunFolder, AFolderOfALaterVersionIsRefusedWithAdvice) {
  monitor();
  for (const std::string version : {"2", "10", "99999999999999999999", "one"}) {
    write("manifest.json", R"({"schema": "fathom-run/)" + version + R"(", "command": ["a"]})");
    ASSERT_EQ(recordings().size(), 1U);
    const Result<Trace> trace = read_run(recordings().front(), {});
    ASSERT_FALSE(trace) << version;
    EXPECT_EQ(trace.error().code, ErrorCode::unsupported);
    EXPECT_EQ(trace.error().message,
              folder_.string() + ": a session folder of version " + version +
                  "; this Fathom reads version 1: use the one that recorded it, or a newer one");
  }
}

TEST_F(RunFolder, CaptureFilesDoToo) {
  write("manifest.json", R"({"schema": "fathom-ru)");
  monitor();
  EXPECT_TRUE(find_recordings(folder_.string()));
}

TEST_F(RunFolder, ATraceOfTorchIsJoinedByItsProcessItsWorkersAndTheMonitor) {
  write("manifest.json", kManifest);
  torch("torch-10-1.pt.trace.json", 10);
  torch("torch-10-2.pt.trace.json", 10);
  capture("process-10.fathom", 10, 1, -1, "main");
  capture("process-10.older.fathom", 10, 1, -1, "main");
  capture("process-11.fathom", 11, 10, -1, "loader-worker");
  monitor();
  write("process-10.json", R"({"batch_size": 32})");
  const std::vector<RunRecording> found = recordings();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].base.ends_with("torch-10-1.pt.trace.json"));
  EXPECT_EQ(names(found[0].parts),
            "process-10.older.fathom process-10.fathom process-11.fathom monitor.fathom ");
  EXPECT_EQ(names(found[0].conditions), "process-10.json ");
}

TEST_F(RunFolder, SeveralProgramsAreToldApartByNameAndProcess) {
  write("manifest.json", kManifest);
  for (const int pid : {20, 30}) {
    torch("torch-" + std::to_string(pid) + "-1.pt.trace.json", pid);
    capture("process-" + std::to_string(pid) + ".fathom", pid, 10, -1, "child");
  }
  const std::vector<RunRecording> found = recordings();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].program, "python (process 20)");
  EXPECT_EQ(found[1].program, "python (process 30)");
  const Result<Trace> trace = read_run(found[1], {});
  ASSERT_TRUE(trace);
  ASSERT_NE(trace->fact(kProgramFact), nullptr);
  EXPECT_EQ(trace->fact(kProgramFact)->value, "\"python (process 30)\"");
}

TEST_F(RunFolder, RanksAndTracesOfOneProcessAreOneProgram) {
  write("manifest.json", kManifest);
  torch("torch-20-1.pt.trace.json", 20);
  torch("torch-20-2.pt.trace.json", 20);
  capture("process-20.fathom", 20, 10, -1, "main");
  for (const RunRecording& recording : recordings()) EXPECT_EQ(recording.program, "");
  torch("torch-30-1.pt.trace.json", 30);
  capture("process-20.fathom", 20, 10, 0, "rank");
  capture("process-30.fathom", 30, 10, 1, "rank");
  for (const RunRecording& recording : recordings()) EXPECT_EQ(recording.program, "");
}

TEST_F(RunFolder, EachRankHasItsOwnChildrenAndAllHaveTheMonitor) {
  write("manifest.json", kManifest);
  for (const int pid : {20, 30}) {
    torch("torch-" + std::to_string(pid) + "-1.pt.trace.json", pid);
    capture("process-" + std::to_string(pid) + ".fathom", pid, 10, pid / 10 - 2, "rank");
    capture("process-" + std::to_string(pid + 1) + ".fathom", pid + 1, pid, pid / 10 - 2,
            "loader-worker");
  }
  capture("process-10.fathom", 10, 1, -1, "main");
  monitor();
  const std::vector<RunRecording> found = recordings();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(names(found[0].parts), "process-20.fathom process-21.fathom monitor.fathom ");
  EXPECT_EQ(names(found[1].parts), "process-30.fathom process-31.fathom monitor.fathom ");
  EXPECT_EQ(names(found[0].aside), "process-10.fathom ");
}

TEST_F(RunFolder, ARankBelowAnotherHasItsOwnChildren) {
  write("manifest.json", kManifest);
  capture("process-20.fathom", 20, 10, 0, "rank");
  capture("process-30.fathom", 30, 20, 1, "rank");
  capture("process-31.fathom", 31, 30, 1, "loader-worker");
  const std::vector<RunRecording> found = recordings();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(names(found[0].parts), "");
  EXPECT_EQ(names(found[1].parts), "process-31.fathom ");
}

TEST_F(RunFolder, ParentsInACircleBelongToNobody) {
  write("manifest.json", kManifest);
  capture("process-20.fathom", 20, 10, 0, "rank");
  capture("process-30.fathom", 30, 10, 1, "rank");
  capture("process-41.fathom", 41, 42, -1, "worker");
  capture("process-42.fathom", 42, 41, -1, "worker");
  const std::vector<RunRecording> found = recordings();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(names(found[0].parts) + names(found[1].parts), "");
  EXPECT_EQ(names(found[0].aside), "process-41.fathom process-42.fathom ");
}

TEST_F(RunFolder, RanksWithoutTorchAreRecordingsToo) {
  write("manifest.json", kManifest);
  capture("process-20.fathom", 20, 10, 0, "rank");
  capture("process-21.fathom", 21, 20, 0, "loader-worker");
  capture("process-30.fathom", 30, 10, 1, "rank");
  const std::vector<RunRecording> found = recordings();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].base.ends_with("process-20.fathom"));
  EXPECT_EQ(names(found[0].parts), "process-21.fathom ");
  EXPECT_TRUE(found[1].base.ends_with("process-30.fathom"));
}

TEST_F(RunFolder, WithoutTorchAllCaptureFilesAreOneRecording) {
  write("manifest.json", kManifest);
  capture("process-10.fathom", 10, 1, -1, "main");
  capture("process-9.fathom", 9, 10, -1, "child");
  monitor();
  const Trace trace = open();
  EXPECT_EQ(trace.format, "fathom-wire");
  ASSERT_EQ(trace.slices.size(), 2U);
  EXPECT_EQ(trace.name(SliceId(0)), "of 10");
  EXPECT_EQ(trace.name(SliceId(1)), "of 9");
  EXPECT_EQ(trace.samples.size(), 1U);
}

TEST_F(RunFolder, AllPartsOfAProcessBelongToItAsTheyWereBegun) {
  torch("torch-10-1.pt.trace.json", 10);
  torch("torch-20-1.pt.trace.json", 20);
  for (const char* name : {"process-10.fathom", "process-10-2.fathom", "process-10-10.fathom",
                           "nvtx-10.older.fathom", "nvtx-10.fathom"})
    capture(name, 10, 1, 0, "rank");
  capture("nvtx-20.fathom", 20, 1, 1, "rank");
  capture("nvtx-20-x.fathom", 20, 1, 1, "rank");
  const std::vector<RunRecording> found = recordings();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(names(found[0].parts),
            "process-10.fathom process-10-2.fathom process-10-10.fathom nvtx-10.older.fathom "
            "nvtx-10.fathom ");
  EXPECT_EQ(names(found[1].parts), "nvtx-20.fathom ");
  EXPECT_EQ(names(found[0].aside), "nvtx-20-x.fathom ");
}

TEST_F(RunFolder, FilesForOtherToolsAreNamed) {
  write("manifest.json", kManifest);
  capture("process-10.fathom", 10, 1, -1, "main");
  write("memory-10.json", "{}");
  write("memory-10-1.pickle", "");
  write("functions-10.prof", "");
  std::string kept;
  for (const Fact& fact : open().facts) kept += fact.key == "kept" ? fact.value : "";
  EXPECT_NE(kept.find("memory-10.json"), std::string::npos);
  EXPECT_NE(kept.find("memory_viz"), std::string::npos);
  EXPECT_NE(kept.find("functions-10.prof: the functions with their callers"), std::string::npos);
}

TEST_F(RunFolder, KeptSourcesAreReadAndNothingBesideThem) {
  write("manifest.json", kManifest);
  fs::create_directories(folder_ / "sources/home/me");
  write("sources/home/me/a.py", "x = 1\n");
  write("secret", "key");
  fs::create_symlink(folder_ / "secret", folder_ / "sources/home/me/link.py");
  fs::create_symlink(folder_, folder_ / "sources/out");
  {
    Result<std::unique_ptr<wire::Writer>> writer =
        wire::Writer::open((folder_ / "process-10.fathom").string());
    ASSERT_TRUE(writer);
    for (const char* const file :
         {"/home/me/a.py", "/home/me/a.py", "/home/me/none.py", "/home/me/link.py", "/out/secret",
          "/../secret", "secret", "../secret", "/home/../home/me/a.py", "", "/"})
      (*writer)->line({.pid = 10, .file = file, .first = 1, .last = 1});
  }
  const Trace trace = open();
  EXPECT_EQ(trace.lines.size(), 11U);
  ASSERT_EQ(trace.sources.size(), 1U);
  EXPECT_EQ(trace.text(trace.sources[0].file), "/home/me/a.py");
  EXPECT_EQ(trace.text(trace.sources[0].text), "x = 1\n");
}

TEST_F(RunFolder, TheMergedTraceHoldsAllOnOneClock) {
  write("manifest.json", kManifest);
  torch("torch-10-1.pt.trace.json", 10);
  capture("process-10.fathom", 10, 1, -1, "main");
  capture("process-11.fathom", 11, 10, -1, "loader-worker");
  monitor();
  const Trace trace = open();
  EXPECT_EQ(trace.format, "chrome-json");
  ASSERT_EQ(trace.slices.size(), 3U);
  EXPECT_EQ(trace.track(SliceId(1)).kind, TrackKind::async);
  // The trace spans an hour around now.
  const double hours = static_cast<double>(to_ns(trace.slices.start[2])) / 3.6e12;
  EXPECT_NEAR(hours, 1.0, 0.1);
  EXPECT_EQ(trace.samples.size(), 1U);
}

TEST_F(RunFolder, ConditionsBecomeFacts) {
  write("manifest.json", kManifest);
  capture("process-10.fathom", 10, 1, -1, "main");
  write("process-10.json",
        R"({"pid": 10, "versions": {"torch": "2.9"}, "batch_size": 32, "none": null})");
  const Trace trace = open();
  EXPECT_EQ(trace.fact("command")->value, R"(["python","a.py"])");
  EXPECT_EQ(trace.fact("host.cgroup.version")->value, "2");
  EXPECT_EQ(trace.fact("versions.torch")->value, R"("2.9")");
  EXPECT_EQ(trace.fact("batch_size")->value, "32");
  EXPECT_EQ(trace.fact("none"), nullptr);
  EXPECT_EQ(trace.fact("pid"), nullptr);
  EXPECT_EQ(warnings(trace), "");
  // No capture file has how the process ended.
  ASSERT_EQ(trace.process_runs.size(), 1U);
  EXPECT_EQ(trace.process_runs[0].status, 3 << 8);
  EXPECT_EQ(trace.process_runs[0].wall_ns, 7);
}

TEST_F(RunFolder, AManifestWithoutAnEndIsAKilledLauncher) {
  write("manifest.json", R"({"schema": "fathom-run/1", "started_unix_ns": 1})");
  capture("process-10.fathom", 10, 1, -1, "main");
  EXPECT_NE(warnings(open()).find("has no end"), std::string::npos);
}

TEST_F(RunFolder, WhatIsMissingOrDamagedIsSaid) {
  torch("torch-10-1.pt.trace.json", 10);
  write("process-10.fathom", "nonsense");
  write("process-10.json", "[1, 2");
  monitor();
  const Trace trace = open();
  const std::string said = warnings(trace);
  EXPECT_NE(said.find("manifest.json is missing"), std::string::npos);
  EXPECT_NE(said.find("process-10.fathom"), std::string::npos);
  EXPECT_NE(said.find("process-10.json is damaged"), std::string::npos);
  EXPECT_EQ(trace.slices.size(), 1U);
}

TEST_F(RunFolder, ATraceOfTorchThatCannotBeReadLeavesTheCaptureFiles) {
  write("manifest.json", kManifest);
  write("torch-10-1.pt.trace.json", "{");
  capture("process-10.fathom", 10, 1, -1, "main");
  const Trace trace = open();
  EXPECT_EQ(trace.slices.size(), 1U);
  EXPECT_NE(warnings(trace).find("torch-10-1.pt.trace.json"), std::string::npos);
}

TEST_F(RunFolder, HostileManifestsAreRead) {
  std::string deep = R"({"schema": "fathom-run/1", "a": )";
  for (int i = 0; i < 500; ++i) deep += R"({"a": )";
  deep += "1" + std::string(501, '}');
  for (
      const std::string& text :
      {deep,
       std::string(
           R"({"schema": "fathom-run/1", "processes": [{"pid": -1}, 7, {"pid": 5, "parent": 5}], "ended_unix_ns": "no"})"),
       std::string(R"({"schema": "fathom-run/1", "exit": "\ud800", "processes": {}})"),
       std::string("\xff\xfe")}) {
    write("manifest.json", text);
    capture("process-5.fathom", 5, 5, -1, "main");
    EXPECT_EQ(open().slices.size(), 1U);
  }
}

TEST_F(RunFolder, AsAnInputItIsOneSessionCalledLikeTheFolder) {
  write("manifest.json", kManifest);
  capture("process-10.fathom", 10, 1, -1, "main");
  monitor();
  const std::string argument = folder_.string();
  const Result<Inputs> inputs = expand_inputs(std::span(&argument, 1));
  ASSERT_TRUE(inputs);
  EXPECT_FALSE((*inputs).several);
  ASSERT_EQ((*inputs).files.size(), 1U);
  const Result<std::unique_ptr<Session>> session = Session::open((*inputs).files.front(), {});
  ASSERT_TRUE(session);
  EXPECT_EQ((*session)->input(), argument);
  const Result<std::unique_ptr<Session>> by_path = Session::open(argument, {});
  ASSERT_TRUE(by_path);
  EXPECT_EQ((*by_path)->trace().slices.size(), 1U);
}

TEST_F(RunFolder, SeveralRecordingsAreSeveralInputs) {
  write("manifest.json", kManifest);
  torch("torch-20-1.pt.trace.json", 20);
  torch("torch-30-1.pt.trace.json", 30);
  const std::string argument = folder_.string();
  const Result<Inputs> inputs = expand_inputs(std::span(&argument, 1));
  ASSERT_TRUE(inputs);
  EXPECT_TRUE((*inputs).several);
  EXPECT_EQ((*inputs).files.size(), 2U);
  EXPECT_FALSE(Session::open(argument, {}));
}

TEST_F(RunFolder, ASessionWithoutARecordingSaysWhereToLook) {
  write("manifest.json", kManifest);
  const std::string argument = folder_.string();
  const Result<Inputs> inputs = expand_inputs(std::span(&argument, 1));
  ASSERT_FALSE(inputs);
  EXPECT_NE(inputs.error().message.find("not_recorded"), std::string::npos);
}

/// Where a slice of that name lies in Unix time.
Interval unix_time(const Trace& trace, std::string_view name) {
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    const Duration origin = duration_ns(trace.origin_ns);
    if (trace.name(id) == name)
      return {trace.slices.start[row] + origin, trace.slices.end(id) + origin};
  }
  ADD_FAILURE() << "no slice " << name;
  return {};
}

TEST(RecordedRun, TorchsTimesAndOursAreOneClock) {
  const std::string folder = FATHOM_SOURCE_DIR "/tests/data/runs/cpu_train";
  const std::vector<RunRecording> found = *find_recordings(folder);
  ASSERT_EQ(found.size(), 1U);
  const Result<Trace> torch = read_trace(found.front().base, {});
  const Result<Trace> ours = read_trace(found.front().parts.front(), {});
  ASSERT_TRUE(torch && ours);
  // The script took its times inside of torch's steps, right after they began.
  constexpr Duration kSlack = std::chrono::microseconds(100);
  for (const std::string_view step : {"ProfilerStep#4", "ProfilerStep#5"}) {
    const Interval theirs = unix_time(*torch, step);
    const Interval mine = unix_time(*ours, step);
    EXPECT_GE(mine.begin, theirs.begin - kSlack);
    EXPECT_LE(mine.begin, theirs.begin + kSlack);
    EXPECT_LE(mine.end, theirs.end + kSlack);
  }
}

}  // namespace
}  // namespace fathom
