// The library in a program, with a fake libcupti: from the injection to the tables.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "formats/format.h"
#include "tests/cuda/injected.h"

namespace fathom::test {
namespace {

Trace trace_of(const Folder& folder) {
  EXPECT_EQ(folder.files().size(), 1U);
  Result<Trace> trace = read_trace(folder.files().at(0), {});
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
  return trace ? std::move(*trace) : Trace();
}

std::size_t count(const Trace& trace, SliceKind kind) {
  std::size_t found = 0;
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    found += trace.kind(SliceId(row)) == kind ? 1 : 0;
  return found;
}

std::string fact(const Trace& trace, const std::string& key) {
  const Fact* const found = trace.fact(key);
  return found == nullptr ? std::string() : found->value;
}

/// Starts of the kernels in all capture files of the folder that are CUDA's; ns of Unix time.
std::vector<std::int64_t> kernels_of(const Folder& folder) {
  std::vector<std::int64_t> starts;
  for (const std::string& path : folder.files()) {
    if (path.find("/cuda-") == std::string::npos) continue;
    const Result<Trace> trace = read_trace(path, {});
    if (!trace) continue;
    for (std::size_t row = 0; row < trace->slices.size(); ++row)
      if (trace->kind(SliceId(row)) == SliceKind::kernel)
        starts.push_back(trace->origin_ns + to_ns(trace->slices.start[row]));
  }
  return starts;
}

/// The first loss of these words; empty where there is none.
std::string loss(const Recorded& recorded, const std::string& words) {
  for (int i = 0;; ++i) {
    const std::string key = "not_recorded.cuda." + std::to_string(i);
    const auto what = recorded.facts.find(key + ".what");
    if (what == recorded.facts.end()) return {};
    std::string said = what->second + ": " + recorded.facts.at(key + ".why");
    if (said.find(words) != std::string::npos) return said;
  }
}

class CudaInjection : public testing::Test {
 protected:
  void SetUp() override {
#ifndef FATHOM_TEST_CUDA
    GTEST_SKIP() << "built without headers of CUPTI";
#endif
  }
};

TEST_F(CudaInjection, RecordsWhatTheProgramDoesOnTheDevice) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work"), 0);
  const Trace trace = trace_of(folder);
  EXPECT_EQ(count(trace, SliceKind::kernel), 5U);
  EXPECT_EQ(count(trace, SliceKind::memcpy), 5U);
  EXPECT_EQ(count(trace, SliceKind::runtime), 15U);
  EXPECT_EQ(count(trace, SliceKind::sync), 5U);
  EXPECT_EQ(fact(trace, "cuda.fallback_level"), "\"full activity\"");
  EXPECT_EQ(fact(trace, "not_recorded.cuda.0.what"), "");
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].name, "Fake GPU");
  EXPECT_EQ(trace.devices[0].sms, 4);
}

TEST_F(CudaInjection, KernelsAreLinkedToTheirCallsAndSayHowTheyWereLaunched) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work"), 0);
  const Trace trace = trace_of(folder);
  std::map<std::int64_t, std::string_view> calls;
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    if (trace.kind(SliceId(row)) == SliceKind::runtime)
      calls[trace.slices.correlation[row]] = trace.name(SliceId(row));
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    if (trace.kind(id) != SliceKind::kernel) continue;
    EXPECT_EQ(trace.name(id), "add(float*, float*, int)");
    EXPECT_EQ(calls[trace.slices.correlation[row]], "cudaLaunchKernel");
    EXPECT_NEAR(static_cast<double>(to_ns(trace.slices.duration[row])), 5000, 1);
    const LaunchConfig& config =
        trace.launch_configs[trace.kernels.config[trace.slices.detail[row]].row()];
    EXPECT_EQ(config.grid[0], 8);
    EXPECT_EQ(config.block[0], 128);
    EXPECT_EQ(config.registers, 32);
    EXPECT_EQ(config.shared_memory, 512);
    EXPECT_DOUBLE_EQ(config.blocks_per_sm, 2);
    EXPECT_EQ(trace.track(id).device, 0);
    EXPECT_EQ(trace.track(id).stream, 7);
  }
}

TEST_F(CudaInjection, TimesAreOfTheHostsClock) {
  const Folder folder;
  const auto before = std::chrono::steady_clock::now().time_since_epoch().count();
  EXPECT_EQ(run_injected(folder, "work"), 0);
  const auto after = std::chrono::steady_clock::now().time_since_epoch().count();
  // The fake's clock is a thousand seconds ahead.
  const Recorded recorded = read_folder(folder);
  EXPECT_GE(std::stoll(recorded.facts.at("cuda.clock.error_ns")), 0);
  const Trace trace = trace_of(folder);
  const std::int64_t span = to_ns(trace.span.end - trace.span.begin);
  EXPECT_LE(span, after - before);
}

TEST_F(CudaInjection, WhatIsRefusedIsNamedAndTheRestRecorded) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_REFUSE", "38"}}), 0);
  const Trace trace = trace_of(folder);
  EXPECT_EQ(count(trace, SliceKind::kernel), 5U);
  EXPECT_EQ(count(trace, SliceKind::sync), 0U);
  EXPECT_EQ(fact(trace, "cuda.fallback_level"), "\"activity without what was refused\"");
  EXPECT_EQ(fact(trace, "not_recorded.cuda.0.what"), "\"synchronisation\"");
  EXPECT_NE(fact(trace, "not_recorded.cuda.0.remedy").find("CAP_SYS_ADMIN"), std::string::npos);
}

TEST_F(CudaInjection, WhereKernelsAreRefusedEventsAroundTheirLaunchesTimeThem) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "launch", {{"CUPTI_FAKE_REFUSE", "1,2,10,22"}}), 0);
  const Trace trace = trace_of(folder);
  EXPECT_EQ(fact(trace, "cuda.fallback_level"), "\"CUDA events\"");
  EXPECT_EQ(count(trace, SliceKind::kernel), 6U);
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (trace.kind(SliceId(row)) != SliceKind::kernel) continue;
    EXPECT_EQ(trace.name(SliceId(row)), "add(float*, float*, int)");
    EXPECT_NEAR(static_cast<double>(to_ns(trace.slices.duration[row])), 5000, 2);
    EXPECT_EQ(trace.argument(SliceId(row), "timed_by"), "CUDA events");
  }
  EXPECT_EQ(fact(trace, "not_recorded.cuda.0.what"), "\"kernels\"");
}

TEST_F(CudaInjection, EventsTimeCooperativeLaunchesAndGraphsToo) {
  for (const auto& [how, name] : {std::pair{"launch, cooperative", "add(float*, float*, int)"},
                                  {"launch, graphs", "CUDA graph"}}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, how, {{"CUPTI_FAKE_REFUSE", "1,2,10,22"}}), 0);
    const Trace trace = trace_of(folder);
    EXPECT_EQ(count(trace, SliceKind::kernel), 6U) << how;
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
      if (trace.kind(SliceId(row)) != SliceKind::kernel) continue;
      EXPECT_EQ(trace.name(SliceId(row)), name);
      EXPECT_NEAR(static_cast<double>(to_ns(trace.slices.duration[row])), 5000, 2) << how;
      EXPECT_EQ(trace.argument(SliceId(row), "timed_by"), "CUDA events");
    }
    EXPECT_EQ(read_folder(folder).dropped, 0U) << how;
  }
}

TEST_F(CudaInjection, EventsSpoilNoGraphThatAnotherThreadCapturesAndLieInTheLaunchsStream) {
  for (const char* const how : {"launch", "launch, stream of the thread"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, how,
                           {{"CUPTI_FAKE_REFUSE", "1,2,10,22"}, {"CUPTI_FAKE_CAPTURE", "1"}}),
              0);
    EXPECT_EQ(count(trace_of(folder), SliceKind::kernel), 6U) << how;
  }
}

TEST_F(CudaInjection, AHeldCuptiIsLeftToWhoHoldsIt) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "held"), 0);
  const Recorded recorded = read_folder(folder);
  EXPECT_EQ(recorded.facts.at("cuda.fallback_level"), "telemetry of the GPU");
  EXPECT_EQ(recorded.facts.at("not_recorded.cuda.0.what"), "GPU activity");
  EXPECT_NE(recorded.facts.at("not_recorded.cuda.0.why").find("another profiler"),
            std::string::npos);
}

TEST_F(CudaInjection, WithoutCuptiItSaysWhatIsMissing) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "alone", {{"FATHOM_CUPTI", "/nowhere/libcupti.so"}}), 0);
  const Recorded recorded = read_folder(folder);
  EXPECT_EQ(recorded.facts.at("cuda.fallback_level"), "telemetry of the GPU");
  EXPECT_NE(recorded.facts.at("not_recorded.cuda.0.remedy").find("FATHOM_CUPTI"),
            std::string::npos);
}

TEST_F(CudaInjection, DroppedRecordsAreCounted) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_DROPPED", "7"}}), 0);
  EXPECT_EQ(read_folder(folder).dropped, 7U);
}

TEST_F(CudaInjection, AnEndWithoutDestructorsKeepsAllThereIs) {
  for (const char* const how : {"_exit", "quick_exit"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, how, {{"CUPTI_FAKE_LATE", "1"}}), 0);
    const Trace trace = trace_of(folder);
    EXPECT_EQ(count(trace, SliceKind::kernel), 5U) << how;
    EXPECT_EQ(count(trace, SliceKind::memcpy), 5U) << how;
    EXPECT_NE(fact(trace, "cuda.clock.error_ns"), "") << how;
  }
}

TEST_F(CudaInjection, AnEndThatNobodyHearsOfLosesTheNewestAtMost) {
  for (const char* const how : {"killed", "exit_group"}) {
    const Folder folder;
    const int status = run_injected(folder, how);
    EXPECT_EQ(WIFSIGNALED(status), std::string(how) == "killed");
    const Trace trace = trace_of(folder);
    EXPECT_GE(count(trace, SliceKind::kernel), 5U) << how;
    EXPECT_LE(count(trace, SliceKind::kernel), 7U) << how;
    EXPECT_EQ(read_folder(folder).damaged_bytes, 0U) << how;
  }
}

TEST_F(CudaInjection, WhatRunsAfterExecWritesBesideWhatRanBefore) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "exec"), 0);
  EXPECT_EQ(folder.files().size(), 2U);
  const std::size_t kernels = kernels_of(folder).size();
  EXPECT_GE(kernels, 10U);
  EXPECT_LE(kernels, 12U);
}

TEST_F(CudaInjection, SeveralPartsOfFathomInOneProcessLoseNothingByIt) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "steps, _exit", {{"CUPTI_FAKE_LATE", "1"}}), 0);
  EXPECT_EQ(folder.files().size(), 2U);
  std::size_t kernels = 0;
  for (const std::string& path : folder.files()) {
    const Result<Trace> trace = read_trace(path, {});
    ASSERT_TRUE(trace);
    kernels += count(*trace, SliceKind::kernel);
  }
  EXPECT_EQ(kernels, 12U);
  EXPECT_EQ(read_folder(folder).named("step").size(), 12U);
}

TEST_F(CudaInjection, ACrashKeepsAllThereIs) {
  const Folder folder;
  const int status = run_injected(folder, "crash", {{"CUPTI_FAKE_LATE", "1"}});
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(count(trace_of(folder), SliceKind::kernel), 7U);
}

TEST_F(CudaInjection, AfterItsEndCuptiIsNotCalledAndBuffersThatComeLateAreWaitedFor) {
  for (const char* const ms : {"5", "200"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_DELIVERY_MS", ms}}), 0);
    const Trace trace = trace_of(folder);
    EXPECT_EQ(count(trace, SliceKind::kernel), 5U) << ms;
    EXPECT_EQ(fact(trace, "cuda.buffers_outstanding"), "\"0\"") << ms;
  }
  for (const char* const how : {"_exit", "crash"}) {
    const Folder folder;
    run_injected(folder, how, {{"CUPTI_FAKE_DELIVERY_MS", "100"}});
    EXPECT_GE(count(trace_of(folder), SliceKind::kernel), 5U) << how;
  }
}

TEST_F(CudaInjection, WhatCuptiKeepsBeyondTheEndIsCounted) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_DELIVERY_MS", "3000"}}), 0);
  EXPECT_NE(std::stoi(read_folder(folder).facts.at("cuda.buffers_outstanding")), 0);
}

TEST_F(CudaInjection, AKernelThatRunsAtTheEndIsRecordedAsRunning) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "endless"), 0);
  const Trace trace = trace_of(folder);
  EXPECT_EQ(count(trace, SliceKind::kernel), 3U);
  EXPECT_EQ(fact(trace, "cuda.running"), "\"1\"");
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    if (trace.name(SliceId(row)) == "endless()") {
      EXPECT_EQ(trace.argument(SliceId(row), "running"), "when the recording ended");
    }
  EXPECT_EQ(read_folder(folder).dropped, 0U);
}

TEST_F(CudaInjection, ASignalThatCannotBeCaughtCostsOneBufferAThreadAtMost) {
  const Folder folder;
  run_injected(folder, "much, killed", {{"CUPTI_FAKE_LATE", "1"}, {"CUPTI_FAKE_WHOLE", "1"}});
  // A round takes some 480 bytes of 128 KiB.
  EXPECT_GE(kernels_of(folder).size(), 1700U);
}

TEST_F(CudaInjection, BeyondTheMemoryCapRecordsAreDiscardedAndCounted) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "much",
                         {{"CUPTI_FAKE_DELIVERY_MS", "100"},
                          {"FATHOM_OPTIONS", R"({"max_memory_bytes": 4194304})"}}),
            0);
  const std::size_t kernels = kernels_of(folder).size();
  EXPECT_LT(kernels, 2000U);
  // Three calls, a copy, a kernel and a wait.
  EXPECT_GE(read_folder(folder).dropped, (2000 - kernels) * 6);
}

TEST_F(CudaInjection, NodesOfGraphsAreRecordedFromTheFirstLaunchAndWholesAreWholes) {
  const Folder nodes;
  EXPECT_EQ(run_injected(nodes, "graphs", {{"FATHOM_OPTIONS", R"({"cuda_graph_nodes": true})"}}),
            0);
  const Trace by_node = trace_of(nodes);
  EXPECT_EQ(count(by_node, SliceKind::kernel), 60U);
  EXPECT_NE(fact(by_node, "cuda.graph_nodes.cost").find("median of 30"), std::string::npos);
  const Folder wholes;
  EXPECT_EQ(run_injected(wholes, "graphs"), 0);
  const Trace whole = trace_of(wholes);
  std::size_t graphs = 0;
  for (std::size_t row = 0; row < whole.slices.size(); ++row) {
    EXPECT_NE(whole.name(SliceId(row)), "add(float*, float*, int)");
    graphs += whole.name(SliceId(row)) == "CUDA graph 5" ? 1 : 0;
  }
  EXPECT_EQ(graphs, 30U);
}

/// What is lost, each once.
std::set<std::string> losses(const Recorded& recorded) {
  std::set<std::string> said;
  for (int i = 0;; ++i) {
    const auto what = recorded.facts.find("not_recorded.cuda." + std::to_string(i) + ".what");
    if (what == recorded.facts.end()) return said;
    EXPECT_TRUE(said.insert(what->second).second) << what->second;
  }
}

TEST_F(CudaInjection, EachCallOfCuptiThatFailsIsNamedOnceAndTheProgramGoesOn) {
  struct Failing {
    std::string call;  ///< As of CUPTI_FAKE_FAIL.
    std::string lost;  ///< Empty: nothing.
    std::size_t kernels;
    std::string what = "work";
    std::string options = "{}";
  };
  const std::string ours = R"({"range": "cuda-profiler"})";
  // What it refuses is enabled without what was there before.
  const std::string dump = "cuptiActivityEnableAndDump:";
  const Failing all[] = {
      {"cuptiGetVersion:999:0", "GPU activity", 0},
      {"cuptiSubscribe:999:0", "GPU activity", 0},
      {"cuptiActivityRegisterCallbacks:999:0", "GPU activity", 0},
      {dump + "999:1;cuptiActivityEnable:999:1", "properties of devices", 5},
      {dump + "999:2;cuptiActivityEnable:999:1", "contexts", 5},
      {dump + "999:3;cuptiActivityEnable:999:1", "streams", 5},
      {"cuptiActivityEnable:999:1", "names that the program gives to streams", 5},
      {"cuptiActivityEnable:999:2", "kernels", 0},
      {"cuptiActivityEnable:999:3", "copies", 5},
      {"cuptiActivityEnable:999:0", "kernels", 0},
      {"cuptiEnableCallback:999:1", "calls that CUPTI shows while they happen", 5},
      {"cuptiEnableCallback:999:0", "calls that CUPTI shows while they happen", 5},
      {"cuptiActivityFlushAll:999:0", "GPU activity that CUPTI did not hand over", 0},
      {"cuptiActivityFlushAll:999:0", "records before the end of a context", 0, "context destroy"},
      // 21: the kind of a record is not known.
      {"cuptiActivityGetNextRecord:21:7", "the rest of a buffer that CUPTI cannot read", 1},
      {"cuptiActivityGetNextRecord:999:0", "the rest of a buffer that CUPTI cannot read", 0},
      {"cuptiActivityGetNumDroppedRecords:999:0", "how many records CUPTI had no room for", 5},
      {"cuptiGetTimestamp:999:0", "times of GPU activity", 0},
      {"cuptiActivityDisable:999:0", "the end of recording where it was limited", 7, "range", ours},
      {"cuptiActivitySetAttribute:999:0", "", 5},
      {"cuptiSetThreadIdType:999:0", "which thread made a call: CUPTI has other numbers of threads",
       5},
      {"cuptiActivityEnableAndDump:999:0", "", 5},
      {"cuptiActivityEnableRuntimeApi:999:0", "", 5},
      {"cuptiActivityEnableDriverApi:999:0", "", 5},
      {"cuptiGetCallbackName:999:0", "names of calls of CUDA", 5},
      {"cuptiUnsubscribe:999:0", "", 5},
  };
  for (const Failing& failing : all) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, failing.what,
                           {{"CUPTI_FAKE_FAIL", failing.call},
                            {"CUPTI_FAKE_WHOLE", "1"},
                            {"FATHOM_OPTIONS", failing.options}}),
              0)
        << failing.call;
    EXPECT_EQ(kernels_of(folder).size(), failing.kernels) << failing.call;
    const std::set<std::string> said = losses(read_folder(folder));
    if (failing.lost.empty()) {
      EXPECT_TRUE(said.empty()) << failing.call << ": " << *said.begin();
    } else {
      EXPECT_TRUE(said.contains(failing.lost)) << failing.call;
    }
  }
}

TEST_F(CudaInjection, WhereEventsCannotBePutAroundLaunchesEitherThatIsSaidOnce) {
  // Kernels and copies are refused, and so is each callback by which events would time kernels.
  for (const char* const failing :
       {"cuptiEnableCallback/1/307:999:0", "cuptiEnableCallback/1/442:999:0"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, "launch",
                           {{"CUPTI_FAKE_REFUSE", "1,2,10,22"}, {"CUPTI_FAKE_FAIL", failing}}),
              0);
    const Recorded recorded = read_folder(folder);
    EXPECT_TRUE(losses(recorded).contains("when kernels ran, by events")) << failing;
    EXPECT_EQ(recorded.facts.at("cuda.fallback_level"), "telemetry of the GPU") << failing;
    EXPECT_TRUE(kernels_of(folder).empty()) << failing;
  }
}

TEST_F(CudaInjection, RecordsBeyondTheMemoryCapThatCannotBeCountedAreNamedOnce) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "much",
                         {{"CUPTI_FAKE_DELIVERY_MS", "100"},
                          {"CUPTI_FAKE_FAIL", "cuptiActivityGetNextRecord:999:0"},
                          {"FATHOM_OPTIONS", R"({"max_memory_bytes": 4194304})"}}),
            0);
  const std::set<std::string> said = losses(read_folder(folder));
  EXPECT_TRUE(said.contains("how many records beyond the memory cap were discarded"));
  EXPECT_TRUE(said.contains("the rest of a buffer that CUPTI cannot read"));
  EXPECT_EQ(said.size(), 2U);
}

TEST_F(CudaInjection, WhereBuffersOfZerosAreRefusedAFactHasTheReason) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_FAIL", "cuptiActivitySetAttribute:999:0"}}),
            0);
  EXPECT_NE(read_folder(folder).facts.at("cuda.zeros").find("CUPTI error 999"), std::string::npos);
  const Folder taken;
  EXPECT_EQ(run_injected(taken, "work"), 0);
  EXPECT_EQ(read_folder(taken).facts.count("cuda.zeros"), 0U);
}

TEST_F(CudaInjection, WhereWhatWasThereBeforeIsRefusedAFactHasTheReason) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_FAIL", "cuptiActivityEnableAndDump:999:0"}}),
            0);
  EXPECT_EQ(read_folder(folder).facts.at("cuda.made_before"), "not recorded: CUPTI error 999");
}

TEST_F(CudaInjection, ACuptiThatAnotherUsesByItsSecondVersionIsLeft) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_V2", "1"}}), 0);
  EXPECT_TRUE(kernels_of(folder).empty());
  EXPECT_TRUE(losses(read_folder(folder)).contains("GPU activity"));
  // One that does not let go of it is named, too.
  const Folder kept;
  EXPECT_EQ(run_injected(kept, "work",
                         {{"CUPTI_FAKE_V2", "1"}, {"CUPTI_FAKE_FAIL", "cuptiUnsubscribe:999:0"}}),
            0);
  EXPECT_TRUE(losses(read_folder(kept)).contains("CUPTI for another profiler"));
}

TEST_F(CudaInjection, AVirtualGpuThatForbidsItNamesTheHostsSetting) {
  const Folder folder;
  // CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_FAIL", "cuptiActivityEnable:40:0"}}), 0);
  const Recorded recorded = read_folder(folder);
  EXPECT_NE(recorded.facts.at("not_recorded.cuda.0.remedy").find("vGPU"), std::string::npos);
  EXPECT_EQ(recorded.facts.at("cuda.fallback_level"), "CUDA events");
}

TEST_F(CudaInjection, PartsOfAGpuThatForbidItAreNamed) {
  const Folder folder;
  // CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_FAIL", "cuptiActivityEnable:43:0"}}), 0);
  EXPECT_NE(read_folder(folder).facts.at("not_recorded.cuda.0.why").find("MIG"), std::string::npos);
}

TEST_F(CudaInjection, AnMpsServerAndWhichGpusAreVisibleAreFacts) {
  const Folder pipes;
  std::ofstream(pipes.path() + "/control") << "";
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work",
                         {{"CUDA_MPS_PIPE_DIRECTORY", pipes.path()},
                          {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "30"},
                          {"CUDA_VISIBLE_DEVICES", "1"}}),
            0);
  const Recorded recorded = read_folder(folder);
  EXPECT_EQ(recorded.facts.at("cuda.mps"), pipes.path() + "/control");
  EXPECT_EQ(recorded.facts.at("cuda.mps.active_thread_percentage"), "30");
  EXPECT_EQ(recorded.facts.at("cuda.visible_devices"), "1");
}

TEST_F(CudaInjection, KernelsOfTwoGpusLieOnTheirOwnTracks) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_GPUS", "2"}}), 0);
  const Trace trace = trace_of(folder);
  std::map<std::int32_t, int> kernels;
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    if (trace.kind(SliceId(row)) == SliceKind::kernel) ++kernels[trace.track(SliceId(row)).device];
  EXPECT_EQ(kernels, (std::map<std::int32_t, int>{{0, 3}, {1, 2}}));
  EXPECT_EQ(trace.devices.size(), 2U);
}

TEST_F(CudaInjection, CorrelationIdsThatBeginAnewStillLinkKernelsToTheirCalls) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_CORRELATION", "4294967290"}}), 0);
  const Trace trace = trace_of(folder);
  std::map<std::int64_t, std::string_view> calls;
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    if (trace.kind(SliceId(row)) == SliceKind::runtime)
      calls[trace.slices.correlation[row]] = trace.name(SliceId(row));
  EXPECT_EQ(calls.size(), 15U);
  EXPECT_EQ(calls.begin()->first, 1);
  EXPECT_EQ(calls.rbegin()->first, 4294967295);
  std::size_t kernels = 0;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (trace.kind(SliceId(row)) != SliceKind::kernel) continue;
    EXPECT_EQ(calls[trace.slices.correlation[row]], "cudaLaunchKernel");
    ++kernels;
  }
  EXPECT_EQ(kernels, 5U);
}

TEST_F(CudaInjection, BeforeAContextEndsWhatCuptiHasOfItIsTaken) {
  // Also what has not begun by then; who only uses it no more waits himself.
  for (const auto& [how, kernels] : {std::pair{"device reset", 10U},
                                     {"context destroy", 10U},
                                     {"primary reset", 10U},
                                     {"context release", 7U}}) {
    const Folder folder;
    EXPECT_EQ(
        run_injected(
            folder, how,
            {{"CUPTI_FAKE_LATE", "1"}, {"CUPTI_FAKE_WHOLE", "1"}, {"CUPTI_FAKE_CAPTURE", "1"}}),
        0);
    EXPECT_EQ(kernels_of(folder).size(), kernels) << how;
    EXPECT_EQ(read_folder(folder).dropped, 0U) << how;
  }
}

TEST_F(CudaInjection, AContextWhoseWorkDoesNotEndIsNotWaitedForWithoutALimit) {
  for (const char* const how : {"device reset, never done", "primary reset, never done"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, how, {{"CUPTI_FAKE_WHOLE", "1"}}), 0) << how;
    EXPECT_EQ(kernels_of(folder).size(), 8U) << how;
    const Recorded recorded = read_folder(folder);
    EXPECT_EQ(recorded.facts.at("cuda.running"), "1") << how;
    // What had not begun.
    EXPECT_EQ(recorded.dropped, 3U) << how;
  }
}

TEST_F(CudaInjection, TheEndOfAContextDoesNotCutWhatAnotherRuns) {
  for (const char* const how : {"context destroy beside", "primary reset beside"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, how, {{"CUPTI_FAKE_WHOLE", "1"}}), 0) << how;
    EXPECT_EQ(kernels_of(folder).size(), 6U) << how;
    EXPECT_EQ(read_folder(folder).facts.count("cuda.running"), 0U) << how;
  }
}

TEST_F(CudaInjection, WhatHasNotBegunAtTheEndIsCounted) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "queued"), 0);
  EXPECT_EQ(kernels_of(folder).size(), 2U);
  EXPECT_EQ(read_folder(folder).dropped, 3U);
}

TEST_F(CudaInjection, AfterAFatalErrorWhatWasHandedOverIsRecordedAndTheRestNamed) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "fatal error"), 0);
  EXPECT_EQ(kernels_of(folder).size(), 5U);
  const Recorded recorded = read_folder(folder);
  EXPECT_NE(loss(recorded, "from a fatal error of CUPTI on"), "");
  EXPECT_EQ(recorded.facts.at("cuda.buffers_outstanding"), "0");
}

TEST_F(CudaInjection, BuffersThatComeAfterTheEndAreNotReadByCupti) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "much, lingers",
                         {{"CUPTI_FAKE_DELIVERY_MS", "800"},
                          {"FATHOM_OPTIONS", R"({"max_memory_bytes": 4194304})"}}),
            0);
  EXPECT_NE(std::stoi(read_folder(folder).facts.at("cuda.buffers_outstanding")), 0);
}

TEST_F(CudaInjection, AKernelThatRunsHoldsItsBufferBackUntilItEnds) {
  for (const auto& [how, kernels] :
       {std::pair{"one runs, killed", 0U}, {"one ended, killed", 4U}}) {
    const Folder folder;
    run_injected(folder, how, {{"CUPTI_FAKE_WHOLE", "1"}});
    EXPECT_EQ(kernels_of(folder).size(), kernels) << how;
  }
}

TEST_F(CudaInjection, HostFunctionsAreRecordedFromTheVersionOnThatHasThem) {
  const auto recorded = [](const char* version) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, "host function", {{"CUPTI_FAKE_VERSION", version}}), 0);
    EXPECT_TRUE(losses(read_folder(folder)).empty()) << version;
    return read_folder(folder).named("CUDA host function").size();
  };
  EXPECT_EQ(recorded("130101"), 1U);
  EXPECT_EQ(recorded("130001"), 0U);
}

TEST_F(CudaInjection, PyTorchThatIsImportedLaterGetsCupti) {
  const Folder libraries;
  const std::string torch = libraries.path() + "/libtorch_cpu.so";
  std::filesystem::create_symlink(kFolder + "/fakes/libcublas.so", torch);
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "torch later", {{"FAKE_TORCH", torch}, {"FAKE_HOOK", "1"}}), 0);
  const Recorded recorded = read_folder(folder);
  EXPECT_EQ(recorded.facts.at("cuda.recorder"), "torch.profiler");
  EXPECT_NE(loss(recorded, "from when PyTorch was loaded"), "");
  EXPECT_EQ(kernels_of(folder).size(), 5U);
  const Folder kept;
  EXPECT_EQ(run_injected(kept, "torch later",
                         {{"FAKE_TORCH", torch},
                          {"FAKE_HOOK", "1"},
                          {"CUPTI_FAKE_FAIL", "cuptiUnsubscribe:999:0"}}),
            0);
  EXPECT_TRUE(losses(read_folder(kept)).contains("CUPTI for torch.profiler"));
  // Kernels that cannot be switched off go on, into buffers that are used again; with a range the
  // program calls meanwhile.
  const Environment others[] = {{{"CUPTI_FAKE_VERSION", "130000"}},
                                {{"CUPTI_FAKE_MEANWHILE", "1"},
                                 {"FATHOM_OPTIONS", R"({"range": "cuda-profiler"})"},
                                 {"FAKE_RANGE", "1"}}};
  for (Environment more : others) {
    const Folder other;
    more.merge(Environment{{"FAKE_TORCH", torch}, {"FAKE_HOOK", "1"}});
    EXPECT_EQ(run_injected(other, "torch later", more), 0);
    EXPECT_EQ(read_folder(other).facts.at("cuda.recorder"), "torch.profiler");
    EXPECT_EQ(kernels_of(other).size(), 5U);
  }
}

TEST_F(CudaInjection, WhereNobodyStartsTorchsProfilerItIsRecordedHere) {
  const Folder libraries;
  const std::string torch = libraries.path() + "/libtorch_cpu.so";
  std::filesystem::create_symlink(kFolder + "/libfake_cupti.so", torch);
  const Environment nobody[] = {
      {},
      // Of the Python that started it, which reads no environment itself, or is none.
      {{"FATHOM_PARENT", "1:-1:main"}, {"PYTHONPATH", "/session/hook"}},
      {{"FAKE_HOOK", "1"}, {"FAKE_PYTHON", "0"}},
  };
  for (Environment more : nobody) {
    const Folder alone;
    more.emplace("FATHOM_CUPTI", torch);
    EXPECT_EQ(run_injected(alone, "work", more), 0);
    EXPECT_EQ(kernels_of(alone).size(), 5U);
  }
  // The number of the process stays, the hook does not.
  const Folder became;
  EXPECT_EQ(
      run_injected(became, "becomes another Python", {{"FATHOM_CUPTI", torch}, {"FAKE_HOOK", "1"}}),
      0);
  EXPECT_EQ(kernels_of(became).size(), 5U);
  const Folder hooked;
  EXPECT_EQ(run_injected(hooked, "work", {{"FATHOM_CUPTI", torch}, {"FAKE_HOOK", "1"}}), 0);
  EXPECT_EQ(kernels_of(hooked).size(), 0U);
  EXPECT_EQ(read_folder(hooked).facts.at("cuda.recorder"), "torch.profiler");
}

#ifdef __x86_64__
TEST_F(CudaInjection, AnotherProfilerThatTakesCuptiIsNoticedAndItsTimesAreNotMistaken) {
  // Also with a range: what it enabled stays so when the program's range ends.
  for (const char* const range : {"", R"(, "range": "cuda-profiler")"}) {
    const Folder folder;
    const std::string options = R"({"cuda_beside_torch": true)" + std::string(range) + "}";
    EXPECT_EQ(run_injected(folder, "taken", {{"FATHOM_OPTIONS", options}, {"FAKE_RANGE", range}}),
              0);
    EXPECT_NE(loss(read_folder(folder), "another profiler in this process took CUPTI"), "");
    // What CUPTI had returned by then, looked at or not.
    EXPECT_EQ(kernels_of(folder).size(), 5U);
    EXPECT_EQ(read_folder(folder).facts.count("cuda.clock.jumps"), 0U);
  }
}

TEST_F(CudaInjection, ACuptiThatWasAnothersFromTheBeginningIsLeftAndThatIsSaid) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_TSC", "1"}}), 0);
  const Recorded recorded = read_folder(folder);
  EXPECT_NE(loss(recorded, "another profiler in this process took CUPTI"), "");
  EXPECT_EQ(recorded.facts.at("cuda.fallback_level"), "telemetry of the GPU");
  EXPECT_TRUE(kernels_of(folder).empty());
}

TEST_F(CudaInjection, APromiseOfZerosThatCannotBeTakenBackIsNamed) {
  const Folder folder;
  EXPECT_EQ(run_injected(
                folder, "work",
                {{"CUPTI_FAKE_TSC", "1"}, {"CUPTI_FAKE_FAIL", "cuptiActivitySetAttribute:999:2"}}),
            0);
  EXPECT_TRUE(losses(read_folder(folder))
                  .contains("what other profilers in this process record, if their buffers hold no "
                            "zeros"));
}
#endif

TEST_F(CudaInjection, TimesOfAClockThatFitsNoOtherAreUnknownAndNotRecorded) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "another clock"), 0);
  const Recorded recorded = read_folder(folder);
  EXPECT_NE(loss(recorded, "times unknown"), "");
  EXPECT_EQ(kernels_of(folder).size(), 5U);
  EXPECT_EQ(recorded.facts.count("cuda.clock.jumps"), 0U);
}

TEST_F(CudaInjection, AnotherProfilerWithAClockLikeCuptisIsNoticedByMissingBuffers) {
  for (const char* const how : {"taken quietly", "taken quietly, plain"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, how, {{"FATHOM_OPTIONS", R"({"cuda_beside_torch": true})"}}), 0);
    EXPECT_NE(loss(read_folder(folder), "another profiler in this process took CUPTI"), "") << how;
    EXPECT_EQ(kernels_of(folder).size(), 5U) << how;
  }
}

TEST_F(CudaInjection, PlainLaunchesCostNoCallbackWhileBuffersComeBack) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "busy, plain"), 0);
  EXPECT_TRUE(losses(read_folder(folder)).empty());
}

TEST_F(CudaInjection, ThatOfCuda11IsRefusedAndTheNextTried) {
  const Folder home;
  std::filesystem::create_directory(home.path() + "/lib64");
  std::filesystem::create_symlink(kFolder + "/libfake_cupti_11.so",
                                  home.path() + "/lib64/libcupti.so.13");
  const Environment more = {{"FATHOM_CUPTI", ""},
                            {"FAKE_GPU", kFolder + "/libfake_cupti.so"},
                            {"CUDA_HOME", home.path()},
                            {"CUPTI_FAKE_VERSION", "18"}};
  const Folder refused;
  EXPECT_EQ(run_injected(refused, "work", more), 0);
  EXPECT_NE(loss(read_folder(refused), "CUDA 12.0 is the oldest"), "");
  EXPECT_TRUE(kernels_of(refused).empty());
  std::filesystem::create_symlink(kFolder + "/libfake_cupti.so",
                                  home.path() + "/lib64/libcupti.so.12");
  const Folder next;
  EXPECT_EQ(run_injected(next, "work", more), 0);
  EXPECT_EQ(kernels_of(next).size(), 5U);
  EXPECT_TRUE(read_folder(next).facts.at("cuda.cupti").ends_with("/lib64/libcupti.so.12"));
}

TEST_F(CudaInjection, ThatOfCuda13_2IsNotCalledBesideADriverThatItDoesNotFit) {
  // It would end the program, whoever names it.
  const Environment named = {{"FATHOM_CUPTI", kFolder + "/libfake_cupti_13_2.so"},
                             {"CUPTI_FAKE_VERSION", "130202"}};
  Environment unfit = named;
  unfit.emplace("CUPTI_FAKE_STUB", "1");
  const Folder refused;
  EXPECT_EQ(run_injected(refused, "work", unfit), 0);
  EXPECT_NE(loss(read_folder(refused), "is of CUDA 13.2, which would end the program"), "");
  // An older driver is no reason to leave it: it says itself whether it starts there.
  Environment old = named;
  old.emplace("CUPTI_FAKE_DRIVER", "12020");
  const Folder beside_old;
  EXPECT_EQ(run_injected(beside_old, "work", old), 0);
  EXPECT_EQ(kernels_of(beside_old).size(), 5U);
  // No other version is left for it.
  Environment others = unfit;
  for (const char* const version : {"130101", "130301"}) {
    others["FATHOM_CUPTI"] = kFolder + "/libfake_cupti.so";
    others["CUPTI_FAKE_VERSION"] = version;
    const Folder other;
    EXPECT_EQ(run_injected(other, "work", others), 0);
    EXPECT_EQ(kernels_of(other).size(), 5U) << version;
  }
  // With the driver that it needs it is one as others are, but for the texts of its answers.
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", named), 0);
  EXPECT_EQ(kernels_of(folder).size(), 5U);
  EXPECT_TRUE(losses(read_folder(folder)).empty());
  Environment failing = named;
  failing.emplace("CUPTI_FAKE_REFUSE", "8");
  const Folder without_text;
  EXPECT_EQ(run_injected(without_text, "work", failing), 0);
  EXPECT_NE(loss(read_folder(without_text), "CUPTI error 35"), "");
}

TEST_F(CudaInjection, AnAnswerForWhichCuptiHasNoTextIsNamedByItsNumber) {
  const Folder folder;
  EXPECT_EQ(
      run_injected(folder, "work",
                   {{"CUPTI_FAKE_REFUSE", "8"}, {"CUPTI_FAKE_FAIL", "cuptiGetResultString:999:0"}}),
      0);
  EXPECT_NE(loss(read_folder(folder), "CUPTI error 35"), "");
}

TEST_F(CudaInjection, ALibraryOfAnotherMajorVersionThatIsNamedIsReportedOrRefused) {
  struct Named {
    const char* version;
    const char* driver;
    const char* fail;
    std::size_t kernels;
    std::string why;
    std::string remedy;
  };
  const std::string unset = "leave FATHOM_CUPTI unset";
  const Named all[] = {
      // An older one records, but does not know what is newer.
      {"28", "13000", "", 5, "of CUDA 12, and the driver runs CUDA 13", "name libcupti.so.13"},
      // A newer one does not start with the driver, as one call or the other answers.
      {"130200", "12080", "cuptiGetVersion:999:0", 0, "does not fit this driver", unset},
      {"130000", "12080", "cuptiSubscribe:15:0", 0, "does not start with the driver",
       "of the CUDA version that nvidia-smi shows"},
      {"130000", "12080", "cuptiSubscribe:999:0", 0,
       "is of CUDA 13, and the driver runs CUDA 12 at most (CUPTI refused: ",
       "install CUPTI of CUDA 12 (pip install nvidia-cuda-cupti-cu12)"},
      {"130000", "13000", "cuptiSubscribe:999:0", 0, "CUPTI refused: ", "fathom doctor"},
      {"130000", "13010", "", 5, "", ""},
      {"28", "12060", "", 5, "", ""},
  };
  for (const Named& named : all) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, "work",
                           {{"CUPTI_FAKE_VERSION", named.version},
                            {"CUPTI_FAKE_DRIVER", named.driver},
                            {"CUPTI_FAKE_FAIL", named.fail}}),
              0);
    const std::string what = std::string(named.version) + " with " + named.driver;
    EXPECT_EQ(kernels_of(folder).size(), named.kernels) << what;
    Recorded recorded = read_folder(folder);
    EXPECT_EQ(losses(recorded).size(), named.why.empty() ? 0U : 1U) << what;
    if (named.why.empty()) continue;
    EXPECT_NE(loss(recorded, named.why), "") << what;
    EXPECT_NE(recorded.facts["not_recorded.cuda.0.remedy"].find(named.remedy), std::string::npos)
        << what;
  }
}

TEST_F(CudaInjection, ALibraryOfAnotherMajorVersionThatWasFoundIsNoLoss) {
  // That of a PyTorch for CUDA 12 beside a driver of CUDA 13 is a usual thing.
  const Folder home;
  std::filesystem::create_directory(home.path() + "/lib64");
  std::filesystem::create_symlink(kFolder + "/libfake_cupti.so",
                                  home.path() + "/lib64/libcupti.so.12");
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work",
                         {{"FATHOM_CUPTI", ""},
                          {"FAKE_GPU", kFolder + "/libfake_cupti.so"},
                          {"CUDA_HOME", home.path()},
                          {"CUPTI_FAKE_VERSION", "28"},
                          {"CUPTI_FAKE_DRIVER", "13000"}}),
            0);
  EXPECT_EQ(kernels_of(folder).size(), 5U);
  EXPECT_TRUE(losses(read_folder(folder)).empty());
}

TEST_F(CudaInjection, PackagesOfTheInterpreterThatRunsAreFoundWithoutItsEnvironment) {
  const Folder home;
  const std::string packages = home.path() + "/lib/python3.11/site-packages/nvidia/cuda_cupti/lib";
  std::filesystem::create_directories(packages);
  std::filesystem::create_directory(home.path() + "/bin");
  std::filesystem::create_symlink(kFolder + "/libfake_cupti.so", packages + "/libcupti.so.13");
  // As in a virtual environment, where it is a link.
  std::filesystem::create_symlink(kFolder + "/cuda_program", home.path() + "/bin/python");
  const Folder folder;
  const int pid = start_program(home.path() + "/bin/python", {"work"},
                                {{"FATHOM_SESSION", folder.path()},
                                 {"FAKE_GPU", kFolder + "/libfake_cupti.so"},
                                 {"CUDA_INJECTION64_PATH", recorder()}});
  EXPECT_EQ(wait_for(pid), 0);
  EXPECT_EQ(read_folder(folder).facts.at("cuda.cupti"), packages + "/libcupti.so.13");
  EXPECT_EQ(kernels_of(folder).size(), 5U);
}

TEST_F(CudaInjection, DevicesContextsAndStreamsThatWereThereBeforeAreRecorded) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "context first"), 0);
  EXPECT_EQ(trace_of(folder).devices.at(0).sms, 4);
  const Recorded recorded = read_folder(folder);
  EXPECT_EQ(recorded.facts.at("cuda.context.1"), "device 0, null stream 7");
  EXPECT_EQ(recorded.facts.at("cuda.stream.13"), "non-blocking, priority 0");
}

TEST_F(CudaInjection, GreenContextsAreRecordedFromTheVersionOnThatHasThem) {
  struct Case {
    const char* version;
    const char* fail;
    bool recorded;
    std::size_t said;
  };
  // By each length of their records; what is refused is a fact, as contexts say the same.
  const Case all[] = {
      {"130101", "", false, 0},
      {"130200", "", true, 0},
      {"130201", "", true, 0},
      {"130500", "", true, 0},
      {"130500", "cuptiActivityEnableAndDump:21:4;cuptiActivityEnable:21:1", false, 1}};
  for (const Case& each : all) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, "work",
                           {{"CUPTI_FAKE_GREEN", "1"},
                            {"CUPTI_FAKE_VERSION", each.version},
                            {"CUPTI_FAKE_FAIL", each.fail}}),
              0);
    const Recorded recorded = read_folder(folder);
    EXPECT_EQ(recorded.facts.count("cuda.context.5"), each.recorded ? 1U : 0U) << each.version;
    if (each.recorded) {
      EXPECT_EQ(recorded.facts.at("cuda.context.5"), "device 0, green, 2 SMs of context 1");
    }
    EXPECT_EQ(recorded.facts.count("cuda.green_contexts"), each.said) << each.version;
    EXPECT_TRUE(losses(recorded).empty()) << each.version;
  }
}

TEST_F(CudaInjection, ALibraryThatDoesNotStartLeavesTheNextToBeTried) {
  const Folder home;
  std::filesystem::create_directory(home.path() + "/lib64");
  for (const char* const name : {"libcupti.so.13", "libcupti.so.12"})
    std::filesystem::create_symlink(kFolder + "/libfake_cupti.so", home.path() + "/lib64/" + name);
  for (const char* const failing : {"cuptiSubscribe:15:1", "cuptiGetVersion:999:1"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, "work",
                           {{"FATHOM_CUPTI", ""},
                            {"FAKE_GPU", kFolder + "/libfake_cupti.so"},
                            {"CUDA_HOME", home.path()},
                            {"CUPTI_FAKE_FAIL", failing}}),
              0);
    EXPECT_EQ(kernels_of(folder).size(), 5U) << failing;
    const Recorded recorded = read_folder(folder);
    EXPECT_NE(recorded.facts.at("cuda.cupti").find("libcupti.so.12"), std::string::npos);
    EXPECT_EQ(recorded.facts.count("not_recorded.cuda.0.what"), 0U) << failing;
  }
}

TEST_F(CudaInjection, KernelsOutsideOfTheProgramsRangeAreDroppedWhereTheyCannotBeSwitchedOff) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "range",
                         {{"FATHOM_OPTIONS", R"({"range": "cuda-profiler"})"},
                          {"CUPTI_FAKE_VERSION", "130000"}}),
            0);
  EXPECT_EQ(kernels_of(folder).size(), 3U);
}

/// The first range is the first time that kernels are switched on, which costs one of them; to
/// switch them on again would cost two.
TEST_F(CudaInjection, ALaterRangeLosesNoKernelsWhereCuptiLosesThoseAfterItWasSwitchedOnAgain) {
  for (const char* const version : {"24", "130000", "130001", "130099"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, "two ranges",
                           {{"FATHOM_OPTIONS", R"({"range": "cuda-profiler"})"},
                            {"CUPTI_FAKE_FIRST", "1"},
                            {"CUPTI_FAKE_VERSION", version}}),
              0)
        << version;
    EXPECT_EQ(kernels_of(folder).size(), 5U) << version;
  }
  const Folder later;
  EXPECT_EQ(run_injected(later, "two ranges",
                         {{"FATHOM_OPTIONS", R"({"range": "cuda-profiler"})"},
                          {"CUPTI_FAKE_VERSION", "130100"}}),
            0);
  EXPECT_EQ(kernels_of(later).size(), 6U);
}

TEST_F(CudaInjection, DevicesTellOfThemselvesAlsoWhereRecordingBeginsLater) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "signals", {{"FATHOM_OPTIONS", R"({"on_signal": "SIGUSR2"})"}}),
            0);
  EXPECT_EQ(trace_of(folder).devices.at(0).sms, 4);
}

TEST_F(CudaInjection, AForkedChildWritesNothingOfItsParents) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "fork"), 0);
  EXPECT_EQ(count(trace_of(folder), SliceKind::kernel), 6U);
}

TEST_F(CudaInjection, TheProgramsOwnRangeLimitsWhatIsRecorded) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "range", {{"FATHOM_OPTIONS", R"({"range": "cuda-profiler"})"}}),
            0);
  const Trace trace = trace_of(folder);
  EXPECT_EQ(count(trace, SliceKind::kernel), 3U);
  EXPECT_EQ(count(trace, SliceKind::trace_span), 1U);
  EXPECT_EQ(fact(trace, "cuda.fallback_level"), "\"full activity\"");
}

TEST_F(CudaInjection, ARangeByCallsOfTheRuntimeIsOne) {
  const Folder folder;
  EXPECT_EQ(
      run_injected(folder, "range, runtime", {{"FATHOM_OPTIONS", R"({"range": "cuda-profiler"})"}}),
      0);
  EXPECT_EQ(kernels_of(folder).size(), 3U);
  EXPECT_EQ(count(trace_of(folder), SliceKind::trace_span), 1U);
}

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kTick = 20'000'000;  // to which a process's start is known

TEST_F(CudaInjection, RecordingBeginsAfterTheDelay) {
  const Folder folder;
  const std::int64_t before = std::chrono::system_clock::now().time_since_epoch().count();
  EXPECT_EQ(run_injected(folder, "delayed", {{"FATHOM_OPTIONS", R"({"delay_s": 0.6})"}}), 0);
  const std::vector<std::int64_t> starts = kernels_of(folder);
  ASSERT_FALSE(starts.empty());
  EXPECT_GE(std::ranges::min(starts), before + kSecond * 6 / 10 - kTick);
}

TEST_F(CudaInjection, RecordingEndsAfterTheDuration) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "outlasts", {{"FATHOM_OPTIONS", R"({"duration_s": 0.3})"}}), 0);
  const std::vector<std::int64_t> starts = kernels_of(folder);
  if (starts.empty()) {
    // A machine under load may take so long to get there.
    EXPECT_EQ(read_folder(folder).facts.count("WARNING"), 1U);
  } else {
    EXPECT_LT(std::ranges::max(starts) - std::ranges::min(starts), kSecond * 3 / 10 + kTick);
  }
}

TEST_F(CudaInjection, ASignalBeginsAndEndsTheRecording) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "signals", {{"FATHOM_OPTIONS", R"({"on_signal": "SIGUSR2"})"}}),
            0);
  EXPECT_EQ(kernels_of(folder).size(), 3U);
}

TEST_F(CudaInjection, StepsOfTheProgramLimitWhatIsRecorded) {
  const Folder folder;
  const std::string steps =
      R"({"steps": {"wait": 1, "warmup": 1, "active": 2, "repeat": 2, "skip_first": 1}})";
  EXPECT_EQ(run_injected(folder, "steps", {{"FATHOM_OPTIONS", steps}}), 0);
  EXPECT_EQ(kernels_of(folder).size(), 4U);
  EXPECT_EQ(read_folder(folder).facts.count("WARNING"), 0U);
}

TEST_F(CudaInjection, WhereNobodyCountsStepsAllIsKeptAndThatIsSaid) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"FATHOM_OPTIONS", R"({"steps": {"wait": 5}})"}}), 0);
  EXPECT_EQ(kernels_of(folder).size(), 5U);
  EXPECT_NE(read_folder(folder).facts["WARNING"].find("--steps"), std::string::npos);
}

TEST_F(CudaInjection, OfALongRunTheNewestStretchIsKept) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "long", {{"FATHOM_OPTIONS", R"({"last_s": 0.3})"}}), 0);
  EXPECT_EQ(folder.files().size(), 2U);
  const std::size_t kept = kernels_of(folder).size();
  EXPECT_GE(kept, 1U);
  EXPECT_LT(kept, 11U);
}

TEST_F(CudaInjection, CallsOfLibrariesAreRecordedWhereThatIsAskedFor) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "libraries",
                         {{"FATHOM_OPTIONS", R"({"with": ["shapes", "libraries"]})"},
                          {"FAKE_LIBRARIES", kFolder + "/fakes"}}),
            0);
  const Recorded recorded = read_folder(folder);
  ASSERT_EQ(recorded.instants.size(), 3U);
  std::map<std::string, RecordedSlice> calls;
  for (const RecordedSlice& call : recorded.instants) calls[call.category] = call;
  EXPECT_EQ(calls["cublas"].name, "cublasSgemm_v2");
  EXPECT_EQ(calls["cublas"].arguments["arguments"],
            "transa: type=cublasOperation_t; val=CUBLAS_OP_N(0) m: type=int; val=512");
  EXPECT_EQ(calls["cublasLt"].name, "cublasLtMatmul");
  EXPECT_EQ(calls["cublasLt"].arguments["arguments"],
            "A=0x1 Adesc=[type=R_16F rows=64 cols=64 ld=64]");
  EXPECT_EQ(calls["cudnn"].name, "cudnnConvolutionForward");
  EXPECT_EQ(calls["cudnn"].arguments["arguments"], "algo: type=cudnnConvolutionFwdAlgo_t; val=1;");
}

TEST_F(CudaInjection, RecordsAsCuptiWroteThemAreKeptForTestsWhereThatIsAskedFor) {
  const Folder folder;
  const Folder raw;
  EXPECT_EQ(run_injected(folder, "work", {{"FATHOM_CUDA_RAW", raw.path()}}), 0);
  EXPECT_EQ(kernels_of(folder).size(), 5U);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(raw.path()))
    files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1U);
  std::ifstream file(files[0], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(text.starts_with("FATHOMRAW1\n"));
  EXPECT_NE(text.find("_Z3addPfS_i"), std::string::npos);
}

TEST_F(CudaInjection, CallsThatTakeNoTimeAreLeftOutWhereCuptiCan) {
  const auto calls = [](const char* version) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, "noise", {{"CUPTI_FAKE_VERSION", version}}), 0);
    EXPECT_TRUE(losses(read_folder(folder)).empty()) << version;
    return read_folder(folder).calls.size();
  };
  const Folder refused;
  EXPECT_EQ(
      run_injected(refused, "noise", {{"CUPTI_FAKE_FAIL", "cuptiActivityEnableDriverApi:999:0"}}),
      0);
  EXPECT_NE(read_folder(refused).facts.at("cuda.noise").find("recorded"), std::string::npos);
  EXPECT_EQ(calls("130500"), 6U);
  EXPECT_EQ(calls("23"), 6U);
  EXPECT_EQ(calls("22"), 56U);
}

TEST_F(CudaInjection, CanBeLeftOut) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"FATHOM_OPTIONS", R"({"cuda": false})"}}), 0);
  EXPECT_TRUE(folder.files().empty());
}

TEST_F(CudaInjection, LayoutsAreComparedWithTheSizesThatALibraryStates) {
  const auto recorded = [](const char* version, const Environment& more) {
    const Folder folder;
    Environment all = more;
    all.emplace("CUPTI_FAKE_VERSION", version);
    EXPECT_EQ(run_injected(folder, "work", all), 0);
    EXPECT_EQ(kernels_of(folder).size(), 5U) << version;
    return read_folder(folder);
  };
  const Recorded stated = recorded("130200", {});
  EXPECT_TRUE(losses(stated).empty());
  EXPECT_EQ(stated.facts.at("cuda.layouts").find("compared with CUPTI's own sizes: "), 0U);
  EXPECT_EQ(stated.facts.at("cuda.layouts").find("refused"), std::string::npos);
  EXPECT_EQ(recorded("130101", {}).facts.count("cuda.layouts"), 0U);
  const Recorded device = recorded("130200", {{"CUPTI_FAKE_SHORTER", "8"}});
  EXPECT_NE(loss(device, "taken for a part of it: properties of devices: this CUPTI says"), "");
  const Recorded shorter = recorded("130200", {{"CUPTI_FAKE_SHORTER", "10"}});
  EXPECT_NE(loss(shorter, "taken for a part of it: kernels: this CUPTI says"), "");
  EXPECT_EQ(losses(shorter).size(), 1U);
  const Recorded refused =
      recorded("130200", {{"CUPTI_FAKE_FAIL", "cuptiActivityGetStructSize:21:0"}});
  EXPECT_TRUE(losses(refused).empty());
  EXPECT_NE(refused.facts.at("cuda.layouts").find("0 kinds; others refused: CUPTI error 21"),
            std::string::npos);
}

TEST_F(CudaInjection, ReadsWhatOlderLibrariesWrite) {
  for (const char* const version : {"18", "24", "28", "130001", "130301"}) {
    const Folder folder;
    EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_VERSION", version}}), 0);
    EXPECT_EQ(count(trace_of(folder), SliceKind::kernel), 5U) << version;
  }
}

std::string output_of(const std::string& line) {
  std::string text;
  FILE* const pipe = popen(line.c_str(), "r");
  char part[4096];
  while (pipe != nullptr && fgets(part, sizeof part, pipe) != nullptr) text += part;
  if (pipe != nullptr) pclose(pipe);
  return text;
}

/// What a command of Fathom says of the folder.
std::string said(const Folder& folder, const std::string& command) {
  return output_of(std::string(FATHOM_BINARY) + " " + command + " " + folder.path() +
                   " --csv 2>&1");
}

/// What the doctor says of the library that is named, in this environment.
constexpr int kFakeEnds = 5;
std::string doctor_of(const std::string& library, const std::string& variables) {
  return output_of("FATHOM_CUPTI=" + library + " " + variables + " " + FATHOM_BINARY +
                   " doctor --json 2>&1");
}

TEST_F(CudaInjection, TheDoctorKnowsThatOfCuda11) {
  const std::string library = kFolder + "/libfake_cupti_11.so";
  const std::string text = doctor_of(library, "");
  EXPECT_NE(text.find(library + " is of CUDA 11, whose records are not read"), std::string::npos)
      << text;
  EXPECT_EQ(text.find(", API version"), std::string::npos) << text;
}

TEST_F(CudaInjection, TheDoctorAsksForTheVersionAsTheRecorderDoesAndSaysWhyItHasNone) {
  const Folder driver;
  std::filesystem::create_symlink(kFolder + "/libfake_cupti.so", driver.path() + "/libcuda.so.1");
  const std::string beside = "LD_LIBRARY_PATH=" + driver.path();
  const std::string of_13_2 = kFolder + "/libfake_cupti_13_2.so";
  const std::string newest = kFolder + "/libfake_cupti.so";
  struct Case {
    std::string library;
    std::string variables;
    std::string said;
    std::string with_driver;  ///< On a machine that has one; empty: the same.
  };
  const Case all[] = {
      {of_13_2, beside + " CUPTI_FAKE_VERSION=130202", ", API version 130202", ""},
      // Were it called, the fake would end the doctor's process.
      {of_13_2, beside + " CUPTI_FAKE_STUB=1", " is of CUDA 13.2, which does not start",
       " does not fit this driver: it is of CUDA 13.2"},
      {newest, beside + " CUPTI_FAKE_VERSION=130301 CUPTI_FAKE_STUB=1", ", API version 130301", ""},
      {newest, "CUPTI_FAKE_FAIL=cuptiGetVersion:999:0",
       " does not start without a driver (cuptiGetVersion: CUPTI error 999)",
       " does not fit this driver (cuptiGetVersion: CUPTI error 999)"},
      {newest, "CUPTI_FAKE_ENDS=9", " crashes when it is asked for its version (signal 9)", ""},
      {newest, "CUPTI_FAKE_ENDS=0",
       " ends the process that asks for its version (exit code " + std::to_string(kFakeEnds) + ")",
       ""},
      {"libc.so.6", "", " has no cuptiGetVersion", ""},
      {driver.path() + "/none.so", "", "/none.so, which does not load", ""},
  };
  for (const Case& each : all) {
    const std::string text = doctor_of(each.library, each.variables);
    EXPECT_TRUE(text.find(each.said) != std::string::npos ||
                (!each.with_driver.empty() && text.find(each.with_driver) != std::string::npos))
        << each.library << " " << each.variables << ": " << text;
  }
}

TEST_F(CudaInjection, KernelsThatCuptiLosesAtTheBeginningAreShownByHealthWhereItIsKnownForThat) {
  // Ours is the first profile of the process, which loses one.
  for (const auto& [version, shown] :
       {std::pair{"24", true}, {"130000", true}, {"130101", false}}) {
    const Folder folder;
    EXPECT_EQ(
        run_injected(folder, "work", {{"CUPTI_FAKE_FIRST", "1"}, {"CUPTI_FAKE_VERSION", version}}),
        0);
    EXPECT_EQ(kernels_of(folder).size(), 4U) << version;
    std::ofstream(folder.path() + "/manifest.json") << R"({"schema": "fathom-run/1"})";
    const std::string health = said(folder, "health");
    EXPECT_EQ(health.find("cupti_first_kernels_lost") != std::string::npos, shown) << health;
  }
}

TEST_F(CudaInjection, ReportsOfTheFolderShowIt) {
  const Folder folder;
  EXPECT_EQ(run_injected(folder, "work", {{"CUPTI_FAKE_DROPPED", "7"}}), 0);
  std::ofstream(folder.path() + "/manifest.json") << R"({"schema": "fathom-run/1"})";
  EXPECT_NE(said(folder, "kernels").find("add(float*, float*, int)"), std::string::npos);
  EXPECT_NE(said(folder, "copies").find("pinned"), std::string::npos);
  EXPECT_NE(said(folder, "launches").find("cudaLaunchKernel"), std::string::npos);
  EXPECT_NE(said(folder, "health").find("dropped"), std::string::npos);
}

}  // namespace
}  // namespace fathom::test
