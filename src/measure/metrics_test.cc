// What is known of a run, and which of it decides.
#include "measure/metrics.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

BenchRun of_steps(std::vector<std::int64_t> ns, std::int64_t waited_ns = 0) {
  BenchRun run;
  run.child.wall_ns = 1'000'000;
  run.steps = SessionSteps{.ns = std::move(ns), .waited_ns = waited_ns};
  return run;
}

std::optional<double> value(std::string_view metric, const BenchRun& run) {
  return metric_named(metric)->value(run);
}

TEST(BenchMetrics, TheStepIsTheMedianOfThoseAfterTheFirst) {
  EXPECT_EQ(value("step", of_steps({900, 30, 10, 20})), 20);
  EXPECT_EQ(value("step", of_steps({900, 30, 10})), 20);
  EXPECT_EQ(value("step", of_steps({900})), 900);
  EXPECT_EQ(value("first_step", of_steps({900, 30, 10})), 900);
}

TEST(BenchMetrics, ResultsHaveALatencyATimeEachAndAThroughput) {
  const BenchRun run = of_steps({900, 30, 10, 20});
  EXPECT_EQ(value("step_mean", run), 20);
  EXPECT_DOUBLE_EQ(*value("step_rate", run), 4 / 960e-9);
  EXPECT_EQ(value("step_mean", of_steps({900})), 900);
  EXPECT_DOUBLE_EQ(*value("step_rate", of_steps({500})), 2e6);
  EXPECT_EQ(value("step_rate", of_steps({0, 0})), std::nullopt) << "no time, no rate";
  for (const std::string_view id : {"step", "first_step", "step_mean", "step_rate"})
    EXPECT_FALSE(metric_named(id)->definition.empty()) << id;
}

TEST(BenchMetrics, WithoutStepsThereIsNoneOfTheirMetrics) {
  for (const Metric& metric : all_metrics()) {
    if (metric.of_steps) {
      EXPECT_EQ(metric.value(BenchRun{}), std::nullopt) << metric.id;
    }
  }
  EXPECT_EQ(metric_named("steps"), nullptr);
}

TEST(BenchMetrics, ProcessorTimeIsOfBothModes) {
  BenchRun run;
  run.child.user_ns = 3;
  run.child.system_ns = 4;
  EXPECT_EQ(value("cpu", run), 7);
}

TEST(BenchMetrics, WaitsAreOfEachStepAndLeftOutWhereThereAreNone) {
  EXPECT_EQ(value("loader_wait", of_steps({5, 5, 5, 5}, 8)), 2);
  EXPECT_EQ(value("loader_wait", of_steps({5, 5})), std::nullopt);
}

TEST(BenchMetrics, WhatDecidesComesFirstAndIsJudgedAlone) {
  BenchOutcome outcome;
  outcome.headline = kStepMetric;
  for (std::size_t pair = 0; pair < 8; ++pair) {
    for (const Side side : {Side::base, Side::now}) {
      const std::int64_t step = side == Side::base ? 100 : 130;
      BenchRun run = of_steps({step, step, step});
      run.side = side;
      run.pair = pair;
      outcome.runs.push_back(run);
    }
    outcome.sampled.base.push_back(100);
    outcome.sampled.now.push_back(130);
  }
  const std::vector<MeasuredMetric> rows = metrics_of(outcome, true, 0.01);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().id, "step");
  EXPECT_EQ(rows.front().claim.verdict, Verdict::slower);
  EXPECT_NEAR(rows.front().claim.ratio->ratio, 1.3, 1e-9);
  for (const MeasuredMetric& row : rows) {
    if (row.id == "wall") {
      EXPECT_EQ(row.claim.verdict, Verdict::same);
    }
  }
}

}  // namespace
}  // namespace fathom::measure
