// Planning by tables of chips, and by CUPTI's own where it answers without a driver.
#include "capture/cuda/pm_plan.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace fathom::cuda {
namespace {

/// A chip with these metrics, of which so many fit into one pass.
PmChip chip(const std::string& name, const std::set<std::string>& metrics, std::size_t in_a_pass) {
  return {name, [metrics](const std::string& metric) { return metrics.contains(metric); },
          [in_a_pass](const std::vector<std::string>& asked) {
            return (asked.size() + in_a_pass - 1) / in_a_pass;
          }};
}

const std::set<std::string> kHopper = {
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__bytes_read.sum.per_second",
    "dram__bytes_write.sum.per_second",
};

std::vector<std::string> names(const PmPlan& plan) {
  std::vector<std::string> all;
  for (const PmTrack& track : plan.tracks) all.push_back(track.name);
  return all;
}

TEST(PmPlan, TakesWhatTheChipHas) {
  const PmPlan plan = plan_pm(chip("GH100", kHopper, 8), {});
  EXPECT_EQ(names(plan),
            (std::vector<std::string>{"gpu.sm_active", "gpu.tensor_active", "gpu.dram_bandwidth",
                                      "gpu.dram_read", "gpu.dram_written"}));
  EXPECT_EQ(plan.tracks[0].unit, "percent");
  EXPECT_EQ(plan.interval_ns, 1'000'000);
  EXPECT_EQ(plan.interval_cycles, 0);
  EXPECT_EQ(plan.samples, 200U);
  EXPECT_EQ(plan.left_out.size(), 3U);
}

TEST(PmPlan, WhatDoesNotFitIntoOnePassIsLeftOutTheLeastTellingFirst) {
  const PmPlan plan = plan_pm(chip("GH100", kHopper, 3), {});
  EXPECT_EQ(names(plan),
            (std::vector<std::string>{"gpu.sm_active", "gpu.tensor_active", "gpu.dram_bandwidth"}));
  EXPECT_TRUE(std::ranges::any_of(plan.left_out, [](const PmLeftOut& left) {
    return left.track == "gpu.dram_read" &&
           left.why == "GH100 cannot count it at once with the others";
  }));
}

TEST(PmPlan, OtherChipsHaveOtherNamesForTheSame) {
  std::set<std::string> metrics = {
      "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed",
      "dramc__throughput.avg.pct_of_peak_sustained_elapsed"};
  const PmPlan plan = plan_pm(chip("TU102", metrics, 8), {});
  EXPECT_EQ(names(plan), (std::vector<std::string>{"gpu.tensor_active", "gpu.dram_bandwidth"}));
  EXPECT_EQ(plan.interval_cycles, 1'000'000);
}

TEST(PmPlan, WhereOneNameTakesSeveralPassesTheNextIsTried) {
  PmChip turing = chip("TU102",
                       {"dram__throughput.avg.pct_of_peak_sustained_elapsed",
                        "dramc__throughput.avg.pct_of_peak_sustained_elapsed"},
                       8);
  turing.passes = [](const std::vector<std::string>& asked) {
    return asked.back().starts_with("dram__") ? std::size_t{2} : std::size_t{1};
  };
  const PmPlan plan = plan_pm(turing, {});
  ASSERT_EQ(names(plan), std::vector<std::string>{"gpu.dram_bandwidth"});
  EXPECT_TRUE(plan.tracks[0].metric.starts_with("dramc__"));
}

TEST(PmPlan, ShortIntervalsAreTakenOutInSeveralGoes) {
  EXPECT_EQ(plan_pm(chip("GH100", kHopper, 8), {.interval_ns = 10'000}).samples, 1000U);
}

TEST(PmPlan, AnIntervalStaysWithinWhatIsWorthIt) {
  EXPECT_EQ(plan_pm(chip("GH100", kHopper, 8), {.interval_ns = 1}).interval_ns, 10'000);
  EXPECT_EQ(plan_pm(chip("GH100", kHopper, 8), {.interval_ns = 1'000'000'000'000}).interval_ns,
            100'000'000);
  EXPECT_EQ(
      plan_pm(chip("GH100", kHopper, 8), {.interval_ns = 100'000, .look_ns = 1'000'000}).samples,
      20U);
}

TEST(PmPlan, ChipsBeforeTuringCannotBeSampled) {
  const PmPlan plan = plan_pm(chip("GV100", kHopper, 8), {});
  EXPECT_TRUE(plan.tracks.empty());
  EXPECT_EQ(plan.interval_ns, 0);
  EXPECT_NE(plan.left_out.at(0).why.find("GV100 has no PM sampling"), std::string::npos);
  EXPECT_EQ(plan.left_out.size(), 8U);
}

TEST(PmPlan, ATrackWhoseQuestionFailedIsNotSaidToBeAbsent) {
  PmChip asked = chip("GH100", {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}, 9);
  const auto has = asked.has;
  std::string failure;
  asked.has = [&](const std::string& metric) {
    if (metric.starts_with("pcie__read")) failure = "cuptiProfilerHostGetConfigImage: 7";
    return has(metric);
  };
  asked.failed = [&] { return std::exchange(failure, {}); };
  for (const PmLeftOut& left : plan_pm(asked, {}).left_out) {
    EXPECT_EQ(left.failed, left.track == "gpu.pcie_read_throughput") << left.track;
    EXPECT_EQ(left.why.starts_with("cuptiProfilerHost"), left.failed) << left.why;
  }
}

}  // namespace
}  // namespace fathom::cuda
