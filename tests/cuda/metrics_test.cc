// Hardware counters sampled through the library, with a fake libcupti: from the option to
// the tables, and the message where they are refused.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
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

const char* const kOption = R"({"gpu_metrics_hz": 1000})";

int run(const Folder& folder, const std::string& what, Environment more = {}) {
  more.emplace("FATHOM_OPTIONS", kOption);
  return run_injected(folder, what, std::move(more));
}

/// Runs it with this fault of the fake's.
Recorded with_fault(const std::string& fault) {
  const Folder folder;
  EXPECT_EQ(run(folder, "metrics", {{"CUPTI_FAKE_PM", fault}}), 0);
  return read_folder(folder);
}

std::map<std::string, std::vector<RecordedSample>> by_counter(const Recorded& recorded) {
  std::map<std::string, std::vector<RecordedSample>> all;
  for (const RecordedSample& sample : recorded.samples) all[sample.counter].push_back(sample);
  return all;
}

/// The losses that speak of the hardware's counters, by what is lost.
std::map<std::string, std::string> losses(const Recorded& recorded, const std::string& part) {
  std::map<std::string, std::string> all;
  for (int i = 0;; ++i) {
    const std::string key = "not_recorded.cuda." + std::to_string(i) + ".";
    const auto what = recorded.facts.find(key + "what");
    if (what == recorded.facts.end()) return all;
    if (what->second.find("hardware counters") != std::string::npos)
      all[what->second] = recorded.facts.at(key + part);
  }
}

class GpuMetrics : public testing::Test {
 protected:
  void SetUp() override {
#ifndef FATHOM_TEST_CUDA_PM
    GTEST_SKIP() << "built without headers of CUPTI that have PM sampling";
#endif
  }
};

TEST_F(GpuMetrics, AreCounterTracksOfTheGpuInTheirUnits) {
  const Folder folder;
  EXPECT_EQ(run(folder, "metrics"), 0);
  const Recorded recorded = read_folder(folder);
  const auto counters = by_counter(recorded);
  ASSERT_EQ(counters.size(), 4U);
  EXPECT_EQ(counters.at("gpu.sm_active").front().unit, "percent");
  EXPECT_EQ(counters.at("gpu.sm_active").front().value, 50);
  EXPECT_EQ(counters.at("gpu.tensor_active").front().value, 25);
  EXPECT_EQ(counters.at("gpu.dram_read").front().unit, "bytes/s");
  EXPECT_EQ(counters.at("gpu.dram_read").front().value, 2e12);
  EXPECT_EQ(recorded.facts.at("cuda.metrics.0.chip"), "GH100");
  EXPECT_EQ(recorded.facts.at("cuda.metrics.0.interval_ns"), "1000000");
  EXPECT_EQ(recorded.facts.at("cuda.fallback_level"), "full activity");
}

TEST_F(GpuMetrics, AFirstMomentThatIsMissedIsNamedOnceAndALaterLookFindsTheGpu) {
  // CUPTI refuses callbacks for contexts (3/1), or the number of their device.
  for (const auto& [failing, times] :
       {std::pair{"", 0}, {"cuptiEnableCallback/3/1:999:0", 1}, {"cuptiGetDeviceId:999:0", 1}}) {
    const Folder folder;
    EXPECT_EQ(run(folder, "metrics, contexts", {{"CUPTI_FAKE_FAIL", failing}}), 0);
    const Recorded recorded = read_folder(folder);
    const auto said = std::ranges::count_if(recorded.facts, [](const auto& fact) {
      return fact.second == "the first moment of hardware counters";
    });
    EXPECT_EQ(said, times) << failing;
    EXPECT_EQ(by_counter(recorded).size(), 4U) << failing;
  }
}

TEST_F(GpuMetrics, ALittleMoreThanAllIsAll) {
  const Folder folder;
  EXPECT_EQ(run(folder, "metrics"), 0);
  const auto counters = by_counter(read_folder(folder));
  for (const RecordedSample& sample : counters.at("gpu.dram_bandwidth"))
    EXPECT_EQ(sample.value, 100);
}

TEST_F(GpuMetrics, NoSampleIsMissingAndAllLieWithinTheRun) {
  const Folder folder;
  const auto before = std::chrono::steady_clock::now().time_since_epoch().count();
  EXPECT_EQ(run(folder, "metrics"), 0);
  const auto after = std::chrono::steady_clock::now().time_since_epoch().count();
  const Recorded recorded = read_folder(folder);
  EXPECT_EQ(recorded.dropped, 0U);
  const auto counters = by_counter(recorded);
  const auto& samples = counters.at("gpu.sm_active");
  EXPECT_EQ(std::to_string(samples.size()), recorded.facts.at("cuda.metrics.0.samples"));
  // Five looks, a tenth of a second apart or more.
  EXPECT_GE(samples.size(), 400U);
  EXPECT_GE(samples.front().time, before);
  EXPECT_LE(samples.back().time, after);
  const double error = std::stod(recorded.facts.at("cuda.metrics.0.times_within_ns"));
  for (std::size_t i = 1; i < samples.size(); ++i)
    EXPECT_NEAR(static_cast<double>(samples[i].time - samples[i - 1].time), 1e6, 2 * error + 1000);
}

TEST_F(GpuMetrics, SamplesOnAClockOfTheirOwnArePutWhereTheyBelong) {
  const Folder folder;
  const auto before = std::chrono::steady_clock::now().time_since_epoch().count();
  EXPECT_EQ(run(folder, "metrics", {{"CUPTI_FAKE_PM_AHEAD", "5000000000"}}), 0);
  const auto after = std::chrono::steady_clock::now().time_since_epoch().count();
  const Recorded recorded = read_folder(folder);
  const auto samples = by_counter(recorded).at("gpu.sm_active");
  EXPECT_GE(samples.front().time, before);
  EXPECT_LE(samples.back().time, after);
  const double shift = std::stod(recorded.facts.at("cuda.metrics.0.clock_shift_ns"));
  EXPECT_NEAR(shift, -5e9, std::stod(recorded.facts.at("cuda.metrics.0.times_within_ns")) + 1e6);
}

#ifdef __x86_64__
TEST_F(GpuMetrics, TimesOfTheProcessorsCounterArePutOnTheHostsClock) {
  const Folder folder;
  const auto before = std::chrono::steady_clock::now().time_since_epoch().count();
  EXPECT_EQ(run(folder, "metrics, taken"), 0);
  const auto after = std::chrono::steady_clock::now().time_since_epoch().count();
  const Recorded recorded = read_folder(folder);
  EXPECT_GT(std::stoi(recorded.facts.at("cuda.metrics.0.samples_by_processor_clock")), 50);
  const auto samples = by_counter(recorded).at("gpu.sm_active");
  EXPECT_GE(samples.front().time, before);
  EXPECT_LE(samples.back().time, after);
  for (std::size_t i = 1; i < samples.size(); ++i)
    EXPECT_GE(samples[i].time, samples[i - 1].time - 2'000'000);
}
#endif

TEST_F(GpuMetrics, SamplesOfAClockThatFitsNoOtherAreCountedAndTheirTimesSaidToBeUnknown) {
  const Folder folder;
  const auto before = std::chrono::steady_clock::now().time_since_epoch().count();
  EXPECT_EQ(run(folder, "metrics, another clock"), 0);
  const Recorded recorded = read_folder(folder);
  EXPECT_EQ(recorded.facts.at("cuda.metrics.0.times"), "unknown");
  EXPECT_GT(recorded.dropped, 0U);
  const auto reasons = losses(recorded, "why");
  const auto found = reasons.find("the rest of the hardware counters of GPU 0");
  ASSERT_NE(found, reasons.end());
  EXPECT_NE(found->second.find("times unknown"), std::string::npos);
  EXPECT_GE(by_counter(recorded).at("gpu.sm_active").front().time, before);
}

TEST_F(GpuMetrics, AHostObjectThatCuptiDoesNotEndIsAFactAndNothingIsLost) {
  const Folder folder;
  EXPECT_EQ(run(folder, "metrics", {{"CUPTI_FAKE_FAIL", "cuptiProfilerHostDeinitialize:999:0"}}),
            0);
  const Recorded recorded = read_folder(folder);
  EXPECT_EQ(recorded.facts.at("cuda.metrics.0.host_end"),
            "cuptiProfilerHostDeinitialize: CUPTI error 999");
  EXPECT_TRUE(by_counter(recorded).contains("gpu.sm_active"));
}

TEST_F(GpuMetrics, EachVersionOfCuptiGetsStructuresOfItsOwnSizes) {
  for (const char* const version : {"24", "26", "28", "130001", "130101", "130200", "130500"}) {
    const Folder folder;
    EXPECT_EQ(run(folder, "metrics", {{"CUPTI_FAKE_VERSION", version}}), 0);
    const Recorded recorded = read_folder(folder);
    EXPECT_TRUE(by_counter(recorded).contains("gpu.sm_active")) << version;
  }
}

TEST_F(GpuMetrics, TheOutlierAfterEachStartIsLeftOut) {
  for (const char* const fault : {"", "overflow"}) {
    const auto counters = by_counter(with_fault(fault));
    for (const auto& [counter, samples] : counters)
      for (const RecordedSample& sample : samples) EXPECT_NE(sample.value, 77) << counter << fault;
  }
}

TEST_F(GpuMetrics, OfTwoGpusEachHasItsCounters) {
  const Folder folder;
  EXPECT_EQ(run(folder, "metrics", {{"CUPTI_FAKE_GPUS", "2"}}), 0);
  const Recorded recorded = read_folder(folder);
  // Without /proc/driver, as in many containers, they have CUDA's numbers.
  for (const char* const gpu : {"0", "1"})
    EXPECT_EQ(recorded.facts.at(std::string("cuda.metrics.") + gpu + ".chip"), "GH100");
}

TEST_F(GpuMetrics, EachCallThatFailsIsNamedAndActivityIsRecordedAllTheSame) {
  for (const char* const function :
       {"cuptiProfilerInitialize", "cuptiDeviceGetChipName",
        "cuptiPmSamplingGetCounterAvailability", "cuptiProfilerHostInitialize",
        "cuptiProfilerHostConfigAddMetrics", "cuptiProfilerHostGetConfigImageSize",
        "cuptiProfilerHostGetConfigImage", "cuptiProfilerHostGetNumOfPasses",
        "cuptiPmSamplingEnable", "cuptiPmSamplingSetConfig", "cuptiPmSamplingGetCounterDataSize",
        "cuptiPmSamplingCounterDataImageInitialize", "cuptiPmSamplingStart",
        "cuptiPmSamplingDecodeData", "cuptiPmSamplingGetCounterDataInfo",
        "cuptiPmSamplingCounterDataGetSampleInfo", "cuptiProfilerHostEvaluateToGpuValues"}) {
    const Folder folder;
    EXPECT_EQ(run(folder, "metrics", {{"CUPTI_FAKE_FAIL", std::string(function) + ":999:0"}}), 0);
    const Recorded recorded = read_folder(folder);
    const auto reasons = losses(recorded, "why");
    EXPECT_EQ(std::ranges::count_if(reasons,
                                    [](const auto& reason) {
                                      return reason.second.find("CUPTI error 999") !=
                                             std::string::npos;
                                    }),
              1)
        << function;
    EXPECT_EQ(recorded.devices.size(), 15U) << function;
    EXPECT_TRUE(recorded.samples.empty()) << function;
  }
}

TEST_F(GpuMetrics, AnEndThatCuptiRefusesIsNamedAndWhatCameIsKept) {
  for (const char* const fault : {"", "overflow"}) {
    const Folder folder;
    EXPECT_EQ(run(folder, "metrics",
                  {{"CUPTI_FAKE_PM", fault}, {"CUPTI_FAKE_FAIL", "cuptiPmSamplingStop:999:0"}}),
              0);
    const Recorded recorded = read_folder(folder);
    EXPECT_FALSE(recorded.samples.empty()) << fault;
    const auto reasons = losses(recorded, "why");
    const auto found = reasons.find("the rest of the hardware counters of GPU 0");
    ASSERT_NE(found, reasons.end()) << fault;
    EXPECT_NE(found->second.find("cuptiPmSamplingStop: CUPTI error 999"), std::string::npos);
  }
}

TEST_F(GpuMetrics, WhatTheHardwareHadNoRoomForIsCountedAndTheRestGoesOn) {
  for (const char* const fault : {"overflow", "full"}) {
    const Recorded recorded = with_fault(fault);
    EXPECT_GT(recorded.dropped, 20U) << fault;
    EXPECT_GE(std::stoi(recorded.facts.at("cuda.metrics.0.overflows")), 3) << fault;
    EXPECT_GE(by_counter(recorded).at("gpu.sm_active").size(), 60U) << fault;
  }
}

TEST_F(GpuMetrics, ARefusalNamesEachMetricAndTheLeastRightsThatAllowIt) {
  const Recorded recorded = with_fault("refuse");
  EXPECT_TRUE(recorded.samples.empty());
  const auto remedies = losses(recorded, "remedy");
  ASSERT_EQ(remedies.size(), 1U);
  for (const char* const metric : {"gpu.sm_active", "gpu.tensor_active", "gpu.dram_bandwidth"})
    EXPECT_NE(remedies.begin()->first.find(metric), std::string::npos);
  EXPECT_NE(remedies.begin()->second.find("NVreg_RestrictProfilingToAdminUsers=0"),
            std::string::npos);
  // Activity needs no such rights.
  EXPECT_EQ(recorded.facts.at("cuda.fallback_level"), "full activity");
}

TEST_F(GpuMetrics, AnotherProfilerOfTheHardwareIsNamed) {
  const auto remedies = losses(with_fault("busy"), "remedy");
  ASSERT_EQ(remedies.size(), 1U);
  EXPECT_NE(remedies.begin()->second.find("dcgmi profile --pause"), std::string::npos);
}

TEST_F(GpuMetrics, WithoutTheHelpersOfCuptiItSaysWhichFilesAreMissing) {
  const auto reasons = losses(with_fault("no-helpers"), "why");
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_NE(reasons.begin()->second.find("libnvperf_host.so"), std::string::npos);
}

TEST_F(GpuMetrics, WhatTheChipCannotCountIsNamedByItsReason) {
  const Folder folder;
  EXPECT_EQ(run(folder, "metrics"), 0);
  const auto reasons = losses(read_folder(folder), "why");
  EXPECT_EQ(reasons.at("gpu.warps_active (hardware counters of GPU 0)"),
            "GH100 cannot count it at once with the others");
  EXPECT_EQ(reasons.at("gpu.dram_written, gpu.pcie_read_throughput, gpu.pcie_write_throughput "
                       "(hardware counters of GPU 0)"),
            "GH100 has no such metric");
  EXPECT_EQ(losses(with_fault("none"), "why").size(), 1U);
}

TEST_F(GpuMetrics, WhereDecodingBreaksOffWhatCameIsKept) {
  const Recorded recorded = with_fault("breaks");
  EXPECT_FALSE(recorded.samples.empty());
  const auto reasons = losses(recorded, "why");
  EXPECT_TRUE(reasons.contains("the rest of the hardware counters of GPU 0"));
}

TEST_F(GpuMetrics, ACrashKeepsWhatWasSampled) {
  const Folder folder;
  const int status = run(folder, "metrics, crash");
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_GE(by_counter(read_folder(folder)).at("gpu.sm_active").size(), 400U);
}

TEST_F(GpuMetrics, GoBesideTorchsProfilerAndWithoutRecordingCuda) {
  const Folder libraries;
  const std::string torch = libraries.path() + "/libtorch_cpu.so";
  std::filesystem::create_symlink(kFolder + "/libfake_cupti.so", torch);
  const Folder beside;
  EXPECT_EQ(run(beside, "metrics", {{"FATHOM_CUPTI", torch}, {"FAKE_HOOK", "1"}}), 0);
  const Recorded recorded = read_folder(beside);
  EXPECT_EQ(recorded.facts.at("cuda.recorder"), "torch.profiler");
  EXPECT_TRUE(by_counter(recorded).contains("gpu.sm_active"));

  const Folder alone;
  EXPECT_EQ(
      run(alone, "metrics", {{"FATHOM_OPTIONS", R"({"cuda": false, "gpu_metrics_hz": 500})"}}), 0);
  const Recorded only = read_folder(alone);
  EXPECT_TRUE(by_counter(only).contains("gpu.sm_active"));
  EXPECT_EQ(only.facts.at("cuda.metrics.0.interval_ns"), "2000000");
  EXPECT_FALSE(only.facts.contains("cuda.fallback_level"));
}

TEST_F(GpuMetrics, AreNotTakenUnlessAskedFor) {
  const Folder folder;
  EXPECT_EQ(run(folder, "work", {{"FATHOM_OPTIONS", "{}"}}), 0);
  EXPECT_TRUE(read_folder(folder).samples.empty());
}

std::string said(const std::string& words) {
  const std::string line = std::string(FATHOM_BINARY) + " " + words + " 2>&1";
  std::string text;
  FILE* const pipe = popen(line.c_str(), "r");
  char part[4096];
  while (pipe != nullptr && fgets(part, sizeof part, pipe) != nullptr) text += part;
  if (pipe != nullptr) pclose(pipe);
  return text;
}

TEST_F(GpuMetrics, ReportsAndExportsOfTheFolderShowThem) {
  const Folder folder;
  EXPECT_EQ(run(folder, "metrics"), 0);
  std::ofstream(folder.path() + "/manifest.json") << R"({"schema": "fathom-run/1"})";
  const std::string table = said("telemetry " + folder.path() + " --csv");
  EXPECT_NE(table.find("gpu.sm_active,0,machine,percent,"), std::string::npos) << table;
  EXPECT_NE(table.find("gpu.dram_read,0,machine,bytes/s,"), std::string::npos) << table;
  const std::string chrome = said("export " + folder.path() + " --to chrome -o -");
  EXPECT_NE(chrome.find("gpu.sm_active"), std::string::npos);
}

}  // namespace
}  // namespace fathom::test
