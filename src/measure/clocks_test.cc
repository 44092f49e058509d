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

std::string forbidden(const BenchOutcome& outcome) {
  const std::vector<double>& base = outcome.sampled.base;
  const std::vector<double>& now = outcome.sampled.now;
  return clocks_forbid(claim_of(base, now, 0.01), costly_runs(outcome.runs, Side::base, base),
                       costly_runs(outcome.runs, Side::now, now), 0.01);
}

MeasuredMetric headline(const BenchOutcome& outcome) {
  return metrics_of(outcome, true, 0.01).front();
}

TEST(Clocks, ThatAgreeLeaveTheVerdictAlone) {
  const BenchOutcome outcome = pairs_at(100'000, 1400, 130'000, 1395);
  EXPECT_EQ(forbidden(outcome), "");
  EXPECT_EQ(headline(outcome).claim.verdict, Verdict::slower);
}

TEST(Clocks, ThatDifferByMoreThanOnePercentLeaveItUntold) {
  const MeasuredMetric wall = headline(pairs_at(100'000, 1400, 110'000, 1270));
  EXPECT_TRUE(wall.clocks_differ);
  EXPECT_EQ(wall.claim.verdict, Verdict::cannot_tell);
  EXPECT_EQ(wall.claim.reason,
            "clocks differ: GPU 0: the base ran at 1,400 MHz, the new at 1,270 MHz (medians)");
}

TEST(Clocks, ThatDifferDoNotMatterWhereCyclesSayTheSame) {
  const MeasuredMetric wall = headline(pairs_at(100'000, 1400, 200'000, 1300));
  EXPECT_FALSE(wall.clocks_differ);
  EXPECT_EQ(wall.claim.verdict, Verdict::slower);
}

TEST(Clocks, SlowdownForHeatLeavesTheVerdictToCycles) {
  const Throttled hot = {{"hw_thermal", 0.001}};
  EXPECT_EQ(headline(pairs_at(100'000, 1400, 130'000, 1400, hot, hot)).claim.verdict,
            Verdict::slower)
      << "cycles say so, too";
  const MeasuredMetric wall = headline(pairs_at(100'000, 1400, 100'010, 1380, hot, hot));
  EXPECT_TRUE(wall.clocks_differ);
}

TEST(Clocks, ReasonsThatDifferLeaveTheVerdictToCycles) {
  const auto capped = [](double share) { return Throttled{{"power_cap", share}}; };
  EXPECT_EQ(forbidden(pairs_at(100'000, 1400, 102'000, 1390, capped(0.50), capped(0.54))), "");
  EXPECT_EQ(forbidden(pairs_at(100'000, 1400, 101'500, 1387, capped(0.50), capped(0.56))),
            "clocks differ: GPU 0: software power cap for 50.0 % of the time of the base, 56.0 % "
            "of the new");
}

TEST(Clocks, AreToldOfEachSide) {
  BenchOutcome outcome = pairs_at(100'000, 1400, 110'000, 1270, {{"power_cap", 0.5}});
  EXPECT_EQ(clocks_text(outcome, Side::base), "GPU 0: 1,400 MHz, software power cap 50.0 %");
  EXPECT_EQ(clocks_text(outcome, Side::now), "GPU 0: 1,270 MHz");
  for (BenchRun& run : outcome.runs) run.devices.reset();
  EXPECT_EQ(clocks_text(outcome, Side::now), "");
}

TEST(Clocks, OfEachGpuAreHeldAgainstTheVerdict) {
  BenchOutcome outcome = pairs_at(100'000, 1400, 110'000, 1400);
  EXPECT_EQ(forbidden(outcome), "");
  for (BenchRun& run : outcome.runs)
    run.devices->paces.push_back(
        {.gpu = 1, .sm_mhz = run.side == Side::base ? 1400.0 : 1270.0, .throttled = {}});
  EXPECT_EQ(forbidden(outcome),
            "clocks differ: GPU 1: the base ran at 1,400 MHz, the new at 1,270 MHz (medians)");
}

}  // namespace
}  // namespace fathom::measure
