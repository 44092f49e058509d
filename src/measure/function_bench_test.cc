// Blocks are sized, paired and kept as they should be, on a clock that the test moves.
#include "measure/function_bench.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "measure/function_json.h"
#include "measure/function_metrics.h"
#include "measure/function_text.h"
#include "measure/measured_text.h"

namespace fathom::measure {
namespace {

/// Two functions that take made times, on a timer that knows them.
struct Made {
  std::map<Side, double> ns{{Side::base, 1000}, {Side::now, 1000}};  ///< Of a call.
  std::vector<std::pair<Side, std::size_t>> blocks;
  std::size_t stop_after = 1'000'000;   ///< Blocks.
  std::size_t interrupted = 1'000'000;  ///< This block takes 5 ms more.
  double last = 0;

  FunctionHooks hooks() {
    FunctionHooks hooks;
    hooks.timer.mode = "wall";
    hooks.timer.least = std::chrono::microseconds(20);
    hooks.timer.most_calls = 4096;
    hooks.timer.time = [this](const Block& block, std::size_t calls) -> std::optional<double> {
      if (!block(calls)) return std::nullopt;
      return last;
    };
    hooks.call = [this](Side side, std::size_t calls) {
      if (blocks.size() == stop_after) return false;
      last = ns[side] * static_cast<double>(calls) + (blocks.size() == interrupted ? 5e6 : 0);
      blocks.emplace_back(side, calls);
      return true;
    };
    return hooks;
  }

  FunctionResult run(SamplingPlan plan) {
    FunctionOptions options{.base = "old", .now = "new", .plan = plan};
    FunctionOutcome outcome = bench_function(options, hooks());
    return function_result(std::move(options), std::move(outcome));
  }
};

SamplingPlan pairs(std::size_t count) {
  return {.paired = true, .runs = count, .until_precise = false, .seed = 1};
}

TEST(FunctionBench, BlocksGrowUntilTheyAreLongEnough) {
  Made made;
  const FunctionResult result = made.run(pairs(8));
  EXPECT_EQ(result.outcome.calls[0], result.outcome.calls[1]);
  EXPECT_GE(1000 * static_cast<double>(result.outcome.calls[1]), 20'000);
  EXPECT_LE(result.outcome.calls[1], 100U) << "not more than is needed";
}

TEST(FunctionBench, ALongCallIsABlock) {
  Made made;
  made.ns = {{Side::base, 2e8}, {Side::now, 2e8}};
  EXPECT_EQ(made.run(pairs(6)).outcome.calls, (std::array<std::size_t, 2>{1, 1}));
  EXPECT_EQ(made.blocks.size(), 2 + 2 * 6U) << "no call for the size of blocks alone";
}

TEST(FunctionBench, ABlockThatWasInterruptedDoesNotSizeTheOthers) {
  for (std::size_t interrupted = 0; interrupted < 12; ++interrupted) {
    Made made;
    made.interrupted = interrupted;
    const FunctionResult result = made.run(pairs(8));
    for (const std::size_t calls : result.outcome.calls)
      EXPECT_GE(1000 * static_cast<double>(calls), 20'000) << interrupted;
  }
}

TEST(FunctionBench, BothSidesCallEquallyOftenUnlessOneIsFarLonger) {
  Made near;
  near.ns = {{Side::base, 1000}, {Side::now, 3000}};
  const FunctionResult equal = near.run(pairs(6));
  EXPECT_EQ(equal.outcome.calls[0], equal.outcome.calls[1]);
  Made far;
  far.ns = {{Side::base, 10}, {Side::now, 1e6}};
  const FunctionResult own = far.run(pairs(6));
  EXPECT_GT(own.outcome.calls[0], 1000U);
  EXPECT_EQ(own.outcome.calls[1], 1U);
}

TEST(FunctionBench, ValuesAreOfACall) {
  Made made;
  made.ns[Side::now] = 1500;
  const FunctionResult result = made.run(pairs(8));
  EXPECT_EQ(result.metrics.front().id, "wall");
  EXPECT_DOUBLE_EQ(result.metrics.front().base->summary.median, 1000);
  EXPECT_DOUBLE_EQ(result.metrics.front().now.summary.median, 1500);
  EXPECT_EQ(result.metrics.front().claim.verdict, Verdict::slower);
  EXPECT_DOUBLE_EQ(result.metrics.front().claim.ratio->ratio, 1.5);
}

TEST(FunctionBench, TheFirstCallIsApart) {
  Made made;
  FunctionHooks hooks = made.hooks();
  const auto call = hooks.call;
  hooks.call = [&](Side side, std::size_t calls) {
    const bool first = made.blocks.size() < 2;
    const bool fine = call(side, calls);
    if (first) made.last = 5e6;
    return fine;
  };
  const FunctionOptions options{.base = "old", .now = "new", .plan = pairs(8)};
  const FunctionOutcome outcome = bench_function(options, hooks);
  EXPECT_EQ(outcome.first_call_ns[0], 5e6);
  EXPECT_EQ(outcome.first_call_ns[1], 5e6);
  EXPECT_EQ(outcome.samples.size(), 16U);
  EXPECT_TRUE(std::ranges::all_of(outcome.samples,
                                  [](const FunctionSample& sample) { return sample.ns < 1e6; }));
}

TEST(FunctionBench, ThePairsAreInAnOrderThatTheSeedRepeats) {
  const auto order = [](std::uint64_t seed) {
    Made made;
    SamplingPlan plan = pairs(40);
    plan.seed = seed;
    std::string sides;
    for (const FunctionSample& sample : made.run(plan).outcome.samples)
      sides += sample.side == Side::base ? 'b' : 'n';
    return sides;
  };
  EXPECT_EQ(order(5), order(5));
  EXPECT_NE(order(5), order(6));
}

TEST(FunctionBench, WhereItStopsCompletePairsAreKept) {
  Made made;
  made.ns = {{Side::base, 1e6}, {Side::now, 1e6}};
  made.stop_after = 2 + 4 + 2 * 7 + 1;  // the first calls, sizes, pairs
  const FunctionResult result = made.run(pairs(20));
  ASSERT_TRUE(result.outcome.failed);
  EXPECT_EQ(result.outcome.failed->phase, Phase::pairs);
  EXPECT_EQ(result.outcome.failed->pair, 7U);
  EXPECT_EQ(result.metrics.front().now.summary.count, 7U);
  EXPECT_EQ(result.outcome.sampled.stopped, Stopped::asked);
}

TEST(FunctionBench, AFailureInTheFirstCallLeavesNoMetric) {
  Made made;
  made.stop_after = 1;
  const FunctionResult result = made.run(pairs(20));
  ASSERT_TRUE(result.outcome.failed);
  EXPECT_EQ(place_text(*result.outcome.failed, true), "in the first call, of the new");
  EXPECT_TRUE(result.metrics.empty());
  EXPECT_NE(function_text(result).find("no pair was complete"), std::string::npos);
}

TEST(FunctionBench, WhatTakesNoTimeCannotBeJudged) {
  Made made;
  made.ns = {{Side::base, 0}, {Side::now, 0}};
  SamplingPlan plan = pairs(0);
  plan.runs.reset();
  plan.until_precise = true;
  const FunctionResult result = made.run(plan);
  EXPECT_EQ(result.outcome.calls[1], 4096U) << "as many as the timer allows";
  EXPECT_EQ(result.outcome.sampled.stopped, Stopped::undecidable);
  EXPECT_EQ(result.metrics.front().claim.verdict, Verdict::cannot_tell);
  EXPECT_EQ(result.metrics.front().claim.reason, "too many values are 0, which has no ratio");
}

TEST(FunctionBench, PreparationIsBeforeEachBlock) {
  Made made;
  FunctionHooks hooks = made.hooks();
  std::size_t prepared = 0;
  hooks.prepare = [&](Side) { return ++prepared > 0; };
  const FunctionOptions options{.base = "old", .now = "new", .plan = pairs(6)};
  bench_function(options, hooks);
  EXPECT_EQ(prepared, made.blocks.size());
}

TEST(FunctionBench, TheTimerMayBeChosenAfterTheFirstCalls) {
  Made made;
  FunctionHooks hooks = made.hooks();
  hooks.choose_timer = [&]() -> std::optional<BlockTimer> {
    EXPECT_EQ(made.blocks.size(), 2U);
    BlockTimer timer = hooks.timer;
    timer.mode = "events";
    return timer;
  };
  FunctionOptions options{.base = "old", .now = "new", .plan = pairs(6)};
  FunctionOutcome outcome = bench_function(options, hooks);
  const FunctionResult result = function_result(std::move(options), std::move(outcome));
  EXPECT_EQ(result.outcome.mode, "events");
  EXPECT_EQ(result.metrics.front().id, "events");
}

TEST(FunctionBench, ClocksThatDifferWithholdTheVerdict) {
  Made made;
  made.ns[Side::now] = 900;
  FunctionHooks hooks = made.hooks();
  hooks.clocks = [&] {
    return ClockReading{.sm_mhz = made.blocks.back().first == Side::base ? 1000 : 1111};
  };
  FunctionOptions options{.base = "old", .now = "new", .plan = pairs(10)};
  FunctionOutcome outcome = bench_function(options, hooks);
  const FunctionResult result = function_result(std::move(options), std::move(outcome));
  EXPECT_EQ(result.metrics.front().claim.verdict, Verdict::cannot_tell);
  EXPECT_TRUE(result.metrics.front().claim.reason.starts_with("clocks differ: "));
}

/// Items that come after `first`, and then each after `gap`.
ItemTimes items(double first, double gap, std::size_t count) {
  ItemTimes times;
  for (std::size_t i = 0; i < count; ++i) times.at.push_back(first + gap * static_cast<double>(i));
  times.end = times.at.back();
  return times;
}

FunctionResult items_result(double first, double gap) {
  FunctionHooks hooks;
  hooks.timer.mode = "wall";
  hooks.call_for_items = [=](Side side) {
    return side == Side::base ? items(1000, 100, 11) : items(first, gap, 11);
  };
  FunctionOptions options{.base = "old", .now = "new", .plan = pairs(8), .items = true};
  FunctionOutcome outcome = bench_function(options, hooks);
  return function_result(std::move(options), std::move(outcome));
}

const MeasuredMetric& named(const FunctionResult& result, std::string_view id) {
  return *std::ranges::find(result.metrics, id, &MeasuredMetric::id);
}

TEST(FunctionBench, ItemsHaveLatencyTimesAndThroughput) {
  const FunctionResult result = items_result(500, 200);
  EXPECT_EQ(result.metrics.front().id, "wall");
  EXPECT_DOUBLE_EQ(named(result, "wall").base->summary.median, 2000);
  EXPECT_DOUBLE_EQ(named(result, "first_item").base->summary.median, 1000);
  EXPECT_DOUBLE_EQ(named(result, "item_time").base->summary.median, 100);
  EXPECT_DOUBLE_EQ(named(result, "inter_item").now.summary.median, 200);
  EXPECT_DOUBLE_EQ(named(result, "throughput").base->summary.median, 11 / 2000e-9);
  EXPECT_EQ(named(result, "first_item").claim.verdict, Verdict::faster);
  EXPECT_EQ(named(result, "item_time").claim.verdict, Verdict::slower);
  EXPECT_EQ(named(result, "throughput").claim.verdict, Verdict::slower) << "fewer a second";
  EXPECT_EQ(result.now_gaps->count, 80U) << "all gaps of all calls";
}

TEST(FunctionBench, ClocksThatDifferWithholdVerdictsAboutItemsToo) {
  FunctionHooks hooks;
  hooks.timer.mode = "wall";
  Side last = Side::now;
  hooks.call_for_items = [&last](Side side) {
    last = side;
    return side == Side::base ? items(1000, 100, 11) : items(900, 90, 11);
  };
  hooks.clocks = [&last] {
    return ClockReading{.sm_mhz = last == Side::base ? 1000.0 : 1111.0, .reasons = {}};
  };
  FunctionOptions options{.base = "old", .now = "new", .plan = pairs(10), .items = true};
  FunctionOutcome outcome = bench_function(options, hooks);
  const FunctionResult result = function_result(std::move(options), std::move(outcome));
  for (const char* const id : {"first_item", "item_time", "inter_item", "throughput"}) {
    EXPECT_TRUE(named(result, id).clocks_differ) << id;
    EXPECT_EQ(named(result, id).claim.verdict, Verdict::cannot_tell) << id;
  }
}

TEST(FunctionBench, MetricsOfItemsSayWhatTheyAre) {
  const FunctionResult result = items_result(500, 200);
  const std::string text = function_text(result, 400);
  const std::string html = function_html(result);
  ASSERT_EQ(result.metrics.size(), 5U);
  for (const MeasuredMetric& metric : result.metrics) {
    ASSERT_FALSE(metric.definition.empty()) << metric.id;
    EXPECT_NE(text.find(metric.title + " (" + metric.definition + ")"), std::string::npos) << text;
    EXPECT_NE(html.find(metric.definition), std::string::npos) << html;
  }
  Made made;
  EXPECT_EQ(made.run(pairs(8)).metrics.front().definition, "") << "a call is a call";
}

TEST(FunctionBench, TheTextNamesSidesVerdictModeAndConditions) {
  Made made;
  made.ns[Side::now] = 1500;
  const std::string text = function_text(made.run(pairs(8)));
  for (const char* const part :
       {"Base          old\n", "New           new\n", "Result        slower: +50.0 %",
        "8 pairs in random order", "Timed by      wall", "First call    base 1.000 µs", "seed 1",
        "p95 – (needs 59 values, has 8)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(FunctionBench, ConditionsOfWhoMeasuresAreToldAndWarnedAbout) {
  Made made;
  FunctionHooks hooks = made.hooks();
  hooks.conditions = [] {
    Conditions conditions;
    conditions.driver = "550.54";
    conditions.gpus = {{.gpu = 0, .name = "A", .power_limit_w = 350, .default_power_limit_w = 700},
                       {.gpu = 1, .name = "B", .programs = 1},
                       {.gpu = 2, .name = "B"}};
    return conditions;
  };
  std::vector<std::string> warnings;
  hooks.warning = [&warnings](const std::string& text) { warnings.push_back(text); };
  FunctionOptions options{.base = "old", .now = "new", .plan = pairs(8)};
  FunctionOutcome outcome = bench_function(options, hooks);
  const FunctionResult result = function_result(std::move(options), std::move(outcome));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("another program computes on GPU 1 before"));
  const std::string gpus =
      "GPU 0: A, power limit 350.0 W (by default 700.0 W); GPU 1, 2: B; driver 550.54";
  EXPECT_EQ(gpus_text(result.outcome.conditions), gpus);
  EXPECT_NE(function_text(result, 400).find(gpus), std::string::npos);
  EXPECT_NE(function_html(result).find(gpus), std::string::npos);
}

TEST(FunctionBench, HtmlIsEscaped) {
  FunctionOptions options{.base = "<lambda>", .now = "a&b", .plan = pairs(8)};
  Made made;
  FunctionOutcome outcome = bench_function(options, made.hooks());
  const std::string html = function_html(function_result(std::move(options), std::move(outcome)));
  EXPECT_NE(html.find("&lt;lambda&gt;"), std::string::npos);
  EXPECT_NE(html.find("a&amp;b"), std::string::npos);
  EXPECT_EQ(html.find("<lambda>"), std::string::npos);
}

TEST(FunctionBench, WarmUpOfVeryManySamplesIsJudgedByMeans) {
  Made made;
  FunctionHooks hooks = made.hooks();
  const auto call = hooks.call;
  std::size_t count = 0;
  hooks.call = [&](Side side, std::size_t calls) {
    const bool fine = call(side, calls);
    ++count;
    made.last *= (count < 2000 ? 1.5 : 1.0) + 0.01 * static_cast<double>(count * 7 % 11) / 11;
    return fine;
  };
  FunctionOptions options{
      .now = "new", .plan = {.paired = false, .runs = 6000, .until_precise = false, .seed = 1}};
  FunctionOutcome outcome = bench_function(options, hooks);
  const FunctionResult result = function_result(std::move(options), std::move(outcome));
  ASSERT_TRUE(result.metrics.front().now.warm_up);
  EXPECT_EQ(result.metrics.front().now.warm_up->kind, Steadiness::warm);
  EXPECT_NEAR(static_cast<double>(result.metrics.front().now.warm_up->after), 2000, 30);
  ASSERT_TRUE(result.metrics.front().now.steady_median);
  EXPECT_LT(*result.metrics.front().now.steady_median,
            1.02 * result.metrics.front().now.summary.median);
  EXPECT_NE(function_text(result, 1000).find("(warmup=), then median "), std::string::npos);
}

}  // namespace
}  // namespace fathom::measure
