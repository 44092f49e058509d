// Clocks of both sides: when a difference of times says nothing about the programs.
#include "measure/clocks.h"

#include <gtest/gtest.h>

#include "measure/metrics.h"

namespace fathom::measure {
namespace {

using Throttled = std::vector<std::pair<std::string, double>>;

/// Eight pairs; `ns` and `mhz` of base and new.
BenchOutcome pairs_at(std::int64_t base_ns, double base_mhz, std::int64_t new_ns, double new_mhz,
                      const Throttled& base_why = {}, const Throttled& new_why = {}) {
  BenchOutcome outcome;
  outcome.headline = kWallMetric;
  for (std::size_t pair = 0; pair < 8; ++pair) {
    for (const Side side : {Side::base, Side::now}) {
      const bool base = side == Side::base;
      BenchRun run;
      run.side = side;
      run.pair = pair;
      run.child.wall_ns = (base ? base_ns : new_ns) + static_cast<std::int64_t>(pair);
      run.devices = SessionDevices{};
      run.devices->paces.push_back(
          {.gpu = 0, .sm_mhz = base ? base_mhz : new_mhz, .throttled = base ? base_why : new_why});
      (base ? outcome.sampled.base : outcome.sampled.now)
          .push_back(static_cast<double>(run.child.wall_ns));
      outcome.runs.push_back(std::move(run));
    }
  }
  return outcome;
}

MeasuredMetric headline(const BenchOutcome& outcome) {
  return metrics_of(outcome, true, 0.01).front();
}

TEST(Clocks, ThatAgreeLeaveTheVerdictAlone) {
  const BenchOutcome outcome = pairs_at(100'000, 1400, 130'000, 1395);
  EXPECT_EQ(clocks_apart(outcome), "");
  EXPECT_EQ(headline(outcome).claim.verdict, Verdict::slower);
}

TEST(Clocks, ThatDifferByMoreThanOnePercentLeaveItUntold) {
  const MeasuredMetric wall = headline(pairs_at(100'000, 1400, 110'000, 1270));
  EXPECT_TRUE(wall.clocks_differ);
  EXPECT_EQ(wall.claim.verdict, Verdict::cannot_tell);
  EXPECT_EQ(wall.claim.reason,
            "clocks differ: GPU 0: SM clock 1,400 MHz in the base, 1,270 MHz in the new");
}

TEST(Clocks, ThatDifferDoNotMatterWhereCyclesSayTheSame) {
  const MeasuredMetric wall = headline(pairs_at(100'000, 1400, 200'000, 1300));
  EXPECT_FALSE(wall.clocks_differ);
  EXPECT_EQ(wall.claim.verdict, Verdict::slower);
}

TEST(Clocks, SlowdownForHeatLeavesItUntold) {
  const Throttled hot = {{"hw_thermal", 0.2}};
  const MeasuredMetric wall = headline(pairs_at(100'000, 1400, 100'010, 1400, hot, hot));
  EXPECT_FALSE(wall.clocks_differ) << "cycles are the same, too";
  EXPECT_NE(clocks_apart(pairs_at(100'000, 1400, 130'000, 1400, hot, hot)), "");
}

TEST(Clocks, ReasonsMayDifferByFivePoints) {
  EXPECT_EQ(clocks_apart(pairs_at(1, 1400, 1, 1400, {{"power_cap", 0.50}}, {{"power_cap", 0.54}})),
            "");
  EXPECT_NE(clocks_apart(pairs_at(1, 1400, 1, 1400, {{"power_cap", 0.50}}, {{"power_cap", 0.56}})),
            "");
  EXPECT_NE(clocks_apart(pairs_at(1, 1400, 1, 1400, {}, {{"power_cap", 0.06}})), "");
}

}  // namespace
}  // namespace fathom::measure
