#include "compare/check.h"

#include <random>

#include <gtest/gtest.h>

#include "compare/made_profile.h"

namespace fathom {
namespace {

/// A recording with steps of about this length.
Profile recording(double ns, std::uint64_t seed, std::size_t steps = 40) {
  std::mt19937_64 bits(seed);
  Profile profile;
  profile.input = "run" + std::to_string(seed);
  profile.content = seed;
  for (std::size_t i = 0; i < steps; ++i)
    profile.lengths_ns.push_back(
        static_cast<std::int64_t>(ns * (0.99 + 0.02 * static_cast<double>(bits() % 1000) / 1000)));
  return profile;
}

Profile with_counter(Profile profile, std::string id, std::int64_t value, bool per_step = true) {
  profile.counters.push_back(
      {.id = std::move(id), .title = "t", .unit = "count", .value = value, .per_step = per_step});
  return profile;
}

Profile with_condition(Profile profile, std::string id, std::string value) {
  profile.conditions.push_back({std::move(id), "that condition", std::move(value)});
  return profile;
}

/// Recorded in turns, the one side first in every other pair.
void take_turns(Runs& base, Runs& now) {
  for (std::size_t i = 0; i < base.size() && i < now.size(); ++i) {
    const auto at = static_cast<std::int64_t>(2 * i + 1);
    const std::int64_t first = i % 2 == 0 ? 0 : 1;
    for (Profile& profile : base[i]) profile.started_unix_ns = at + first;
    for (Profile& profile : now[i]) profile.started_unix_ns = at + 1 - first;
  }
}

CheckedRuns check(Runs base, const Runs& now, std::string_view budget,
                  Claims claims = Claims::within_runs) {
  const Result<Budget> parsed = parse_budget(budget);
  EXPECT_TRUE(parsed.ok()) << budget;
  const std::vector<CheckReference> references = {
      {.name = "base", .when = {}, .runs = std::move(base)}};
  return check_runs(references, now, std::span(&*parsed, 1), claims);
}

CheckedBudget checked(const Profile& base, const Profile& now, std::string_view budget) {
  return check({{base}}, {{now}}, budget).checks.front().budgets.front();
}

/// Three levels, the last in the last quarter.
Profile unsteady(double ns, std::uint64_t seed) {
  Profile profile = recording(ns, seed, 100);
  for (std::size_t step = 40; step < 100; ++step)
    profile.lengths_ns[step] = profile.lengths_ns[step] * (step < 85 ? 14 : 12) / 10;
  return profile;
}

TEST(Check, ATimeThatWasNeverSteadyCannotBeTold) {
  const CheckedBudget out = checked(recording(1e6, 1), unsteady(1e6, 2), "step_time+100%");
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_NE(out.reason.find("the times of new were never steady"), std::string::npos) << out.reason;
  const CheckedBudget bare = checked(unsteady(1e6, 1), recording(1e6, 2), "step_time<1s");
  EXPECT_EQ(bare.judgement, Judgement::within) << "base bears on no number";
}

TEST(Check, ATimeFarWithinItsBudgetIsCertain) {
  const CheckedBudget out = checked(recording(1e6, 1), recording(1e6, 2), "step_time+10%");
  EXPECT_EQ(out.judgement, Judgement::within);
  EXPECT_EQ(out.basis, "within one run a side");
  EXPECT_NE(out.reason.find("does not show how runs vary"), std::string::npos);
  ASSERT_TRUE(out.interval);
  EXPECT_LT(out.interval->low, *out.now);
  EXPECT_GT(out.interval->high, *out.now);
}

TEST(Check, ATimeFarBeyondItsBudgetIsCertain) {
  EXPECT_EQ(checked(recording(1e6, 1), recording(1.2e6, 2), "step_time+10%").judgement,
            Judgement::over);
  EXPECT_EQ(checked(recording(1e6, 1), recording(1.2e6, 2), "step_time+100us").judgement,
            Judgement::over);
  EXPECT_EQ(checked(recording(1e6, 1), recording(1.2e6, 2), "step_time<1ms").judgement,
            Judgement::over);
}

TEST(Check, ALimitInsideTheIntervalCannotBeTold) {
  const CheckedBudget out = checked(recording(1e6, 1), recording(1e6, 2), "step_time+0%");
  EXPECT_EQ(out.judgement, Judgement::undecided);
}

TEST(Check, AnImprovementCanBeAsked) {
  EXPECT_EQ(checked(recording(1e6, 1), recording(0.8e6, 2), "step_time-10%").judgement,
            Judgement::within);
  EXPECT_EQ(checked(recording(1e6, 1), recording(1e6, 2), "step_time-10%").judgement,
            Judgement::over);
}

TEST(Check, FewStepsHaveNoInterval) {
  const CheckedBudget out = checked(recording(1e6, 1, 5), recording(2e6, 2, 5), "step_time+3%");
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_NE(out.reason.find("needs 7 steps"), std::string::npos);
  EXPECT_EQ(checked(recording(1e6, 1, 5), recording(2e6, 2, 6), "step_time<3ms").judgement,
            Judgement::within);
}

TEST(Check, TheSameRecordingIsWithinNothingMore) {
  const Profile one = recording(1e6, 1);
  EXPECT_EQ(checked(one, one, "step_time+0%").judgement, Judgement::within);
  EXPECT_EQ(checked(one, one, "step_time-1%").judgement, Judgement::over);
}

TEST(Check, PairsOfRunsDecideByTheirSigns) {
  Runs base;
  Runs now;
  for (std::uint64_t i = 0; i < 8; ++i) {
    // Drift of 10 % a run would drown a change of 2 %; pairs do not see it.
    const double drift = 1 + 0.1 * static_cast<double>(i);
    base.push_back({recording(1e6 * drift, i + 1)});
    now.push_back({recording(1.02e6 * drift, i + 101)});
  }
  take_turns(base, now);
  const CheckedBudget over = check(base, now, "step_time+1%").checks[0].budgets[0];
  EXPECT_EQ(over.judgement, Judgement::over);
  EXPECT_EQ(over.basis, "over 8 pairs of runs");
  EXPECT_EQ(check(base, now, "step_time+3%").checks[0].budgets[0].judgement, Judgement::within);
}

TEST(Check, OfPairsTheEstimateIsTheMedianOfTheirRatios) {
  Runs base;
  Runs now;
  for (std::uint64_t i = 0; i < 10; ++i) {
    // With the one pair that differs the median of new is among the long runs, that of base
    // between.
    const double length = i < 5 ? 1e6 : 2e6;
    base.push_back({recording(length, i + 1)});
    now.push_back({recording(1.1 * (i == 4 ? 2e6 : length), i + 101)});
  }
  for (const bool in_turns : {false, true}) {
    if (in_turns) take_turns(base, now);
    for (const std::string_view budget : {"step_time+3%", "step_time+50us"}) {
      const CheckedBudget out = check(base, now, budget).checks[0].budgets[0];
      ASSERT_TRUE(out.interval && out.estimate) << budget;
      EXPECT_GT(*out.now, out.interval->high) << budget;
      EXPECT_LE(out.interval->low, *out.estimate) << budget;
      EXPECT_GE(out.interval->high, *out.estimate) << budget;
      EXPECT_NEAR(*out.estimate / *out.base, 1.1, 0.03) << budget;
    }
    EXPECT_FALSE(check(base, now, "step_time<9ms").checks[0].budgets[0].estimate);
  }
}

/// Three times as long, and still: what the machine did between the sides is not known.
TEST(Check, AllOfTheOneAndThenAllOfTheOtherCannotBeTold) {
  Runs base;
  Runs now;
  for (std::uint64_t i = 0; i < 8; ++i) {
    base.push_back({recording(1e6, i + 1)});
    now.push_back({recording(3e6, i + 101)});
  }
  const auto budget_with = [&](Claims claims) {
    return check(base, now, "step_time+1%", claims).checks[0].budgets[0];
  };
  CheckedBudget out = budget_with(Claims::over_runs);
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_NE(out.reason.find("not all recordings say when they were made"), std::string::npos);
  for (std::size_t i = 0; i < 8; ++i) {
    base[i][0].started_unix_ns = static_cast<std::int64_t>(i + 1);
    now[i][0].started_unix_ns = static_cast<std::int64_t>(i + 101);
  }
  out = budget_with(Claims::over_runs);
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_FALSE(out.covers_runs);
  EXPECT_TRUE(out.interval) << "it is shown all the same";
  EXPECT_NE(out.reason.find("not recorded in turns"), std::string::npos);
  EXPECT_NE(out.reason.find("--within-runs"), std::string::npos);
  EXPECT_EQ(budget_with(Claims::within_runs).judgement, Judgement::over);
  now.pop_back();
  out = budget_with(Claims::over_runs);
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_EQ(out.basis, "over 8 and 7 runs, not in turns");
  now.push_back({recording(3e6, 999)});
  take_turns(base, now);
  EXPECT_EQ(budget_with(Claims::over_runs).judgement, Judgement::over);
}

TEST(Check, ARecordingWithoutAPartnerInTimeIsLeftOut) {
  Runs base;
  Runs now;
  for (std::uint64_t i = 0; i < 7; ++i) {
    base.push_back({recording(1e6, i + 1)});
    now.push_back({recording(3e6, i + 101)});
  }
  take_turns(base, now);
  now.pop_back();
  const CheckedBudget out =
      check(base, now, "step_time+1%", Claims::over_runs).checks[0].budgets[0];
  EXPECT_EQ(out.judgement, Judgement::over);
  EXPECT_EQ(out.basis, "over 6 pairs of runs");
  EXPECT_NE(out.reason.find("1 recordings without a neighbour"), std::string::npos);
}

TEST(Check, CopiesOfOneRecordingAreOneRun) {
  const Runs base(8, {recording(1e6, 1)});
  Runs now(8, {recording(3e6, 2)});
  CheckedBudget out = check(base, now, "step_time+1%", Claims::over_runs).checks[0].budgets[0];
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_EQ(out.basis, "within one run a side");
  EXPECT_NE(out.reason.find("8 recordings in base are 1, 8 recordings in new are 1: copies of one "
                            "recording count once"),
            std::string::npos);
  out = check(base, base, "step_time+0%", Claims::over_runs).checks[0].budgets[0];
  EXPECT_EQ(out.judgement, Judgement::within) << "the same recording beside itself";
  // Seven runs of which six are real.
  Runs mixed;
  now.clear();
  for (std::uint64_t i = 0; i < 6; ++i) {
    mixed.push_back({recording(1e6, i + 1)});
    now.push_back({recording(3e6, i + 101)});
  }
  take_turns(mixed, now);
  mixed.push_back(mixed.back());
  now.push_back(now.front());
  out = check(mixed, now, "step_time+1%", Claims::over_runs).checks[0].budgets[0];
  EXPECT_EQ(out.judgement, Judgement::over);
  EXPECT_EQ(out.basis, "over 6 pairs of runs");
}

TEST(Check, FewRunsSpanAllTheirIntervals) {
  const Runs base = {{recording(1e6, 1)}, {recording(1e6, 2)}};
  const Runs now = {{recording(1e6, 3)}, {recording(1.2e6, 4)}};
  const CheckedBudget out = check(base, now, "step_time+10%").checks[0].budgets[0];
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_NE(out.reason.find("6 pairs"), std::string::npos);
  EXPECT_EQ(check(base, now, "step_time+30%").checks[0].budgets[0].judgement, Judgement::within);
}

TEST(Check, WithoutLeaveNothingIsClaimedFromFewRuns) {
  const CheckedBudget one =
      check({{recording(1e6, 1)}}, {{recording(3e6, 2)}}, "step_time+10%", Claims::over_runs)
          .checks[0]
          .budgets[0];
  EXPECT_EQ(one.judgement, Judgement::undecided);
  EXPECT_TRUE(one.interval);
  EXPECT_NE(one.reason.find("6 pairs"), std::string::npos);
  Runs base;
  Runs now;
  for (std::uint64_t i = 1; i <= 6; ++i) {
    if (i == 6) {
      EXPECT_EQ(check(base, now, "step_time+10%", Claims::over_runs).judgement(),
                Judgement::undecided);
    }
    base.push_back({recording(1e6, i)});
    now.push_back({recording(3e6, 100 + i)});
    take_turns(base, now);
  }
  EXPECT_EQ(check(base, now, "step_time+10%", Claims::over_runs).judgement(), Judgement::over);
}

TEST(Check, CountsAreExact) {
  const Profile base = with_counter(recording(1e6, 1, 40), "kernel_launches", 4000);
  const Profile same = with_counter(recording(1e6, 2, 20), "kernel_launches", 2000);
  const Profile more = with_counter(recording(1e6, 3, 20), "kernel_launches", 2001);
  EXPECT_EQ(checked(base, same, "launches+0").judgement, Judgement::within);
  EXPECT_EQ(checked(base, more, "launches+0").judgement, Judgement::over);
  EXPECT_EQ(checked(base, more, "launches+1").judgement, Judgement::within);
  EXPECT_EQ(checked(base, more, "launches+0.05%").judgement, Judgement::within);
  EXPECT_EQ(checked(base, more, "launches+0.04999%").judgement, Judgement::over);
  EXPECT_EQ(checked(base, same, "launches=100").judgement, Judgement::within);
  EXPECT_EQ(checked(base, same, "launches<100").judgement, Judgement::over);
  EXPECT_EQ(checked(base, same, "launches>=100").judgement, Judgement::within);
}

TEST(Check, CountsAreExactBeyondWhatMillionthsHold) {
  const std::int64_t step = 20'000'000'000'000;
  const auto flops = [](std::int64_t value, std::uint64_t seed) {
    return with_counter(recording(1e6, seed, 40), "flops", value);
  };
  EXPECT_EQ(checked(flops(step * 40, 1), flops(step * 40, 2), "flops<=2e13").judgement,
            Judgement::within);
  EXPECT_EQ(checked(flops(step * 40, 1), flops(step * 40 + 1, 2), "flops<=2e13").judgement,
            Judgement::over);
  EXPECT_EQ(checked(flops(step * 40, 1), flops(step * 40, 2), "flops+9e18").judgement,
            Judgement::within);
  EXPECT_EQ(checked(flops(step * 40, 1), flops(step * 40, 2), "flops-9e18").judgement,
            Judgement::over);
}

TEST(Check, OtherStepsOfOneRecordingAreNotTheSame) {
  const Profile one = recording(1e6, 1);
  Profile other = one;
  other.lengths_ns.erase(other.lengths_ns.begin(), other.lengths_ns.begin() + 10);
  for (std::int64_t& length : other.lengths_ns) length = length * 12 / 10;
  const CheckedBudget out = checked(one, other, "step_time+3%");
  EXPECT_EQ(out.basis, "within one run a side");
  EXPECT_EQ(out.judgement, Judgement::over);
}

TEST(Check, PeaksAreOfTheWholeRecording) {
  const Profile base = with_counter(recording(1e6, 1), "peak_allocated_bytes", 1000, false);
  const Profile now = with_counter(recording(1e6, 2), "peak_allocated_bytes", 1100, false);
  EXPECT_EQ(checked(base, now, "peak_memory+10%").judgement, Judgement::within);
  EXPECT_EQ(checked(base, now, "peak_memory+9%").judgement, Judgement::over);
}

TEST(Check, CountsThatVaryBetweenRunsCannotBeTold) {
  const auto run = [](std::uint64_t seed, std::int64_t launches) {
    return fathom::Run{with_counter(recording(1e6, seed, 10), "kernel_launches", launches)};
  };
  const CheckedRuns out =
      check({run(1, 100), run(2, 120)}, {run(3, 110), run(4, 110)}, "launches+0");
  EXPECT_EQ(out.judgement(), Judgement::undecided);
  EXPECT_EQ(out.checks[0].budgets[0].reason,
            "it varies between runs: 11.00 to 11.00 in new, 10.00 to 12.00 in base");
}

TEST(Check, WhatWasNotRecordedCannotBeTold) {
  const Profile none = recording(1e6, 1);
  const Profile some = with_counter(recording(1e6, 2), "peak_allocated_bytes", 5, false);
  EXPECT_NE(checked(some, none, "peak_memory<10B").reason.find("profile_memory=True"),
            std::string::npos);
  EXPECT_EQ(checked(none, some, "peak_memory<10B").judgement, Judgement::within);
  EXPECT_NE(checked(none, some, "peak_memory+0").reason.find("in base"), std::string::npos);
}

TEST(Check, TimesOfAnotherDeviceCannotBeTold) {
  const Profile base = with_condition(recording(1e6, 1), "device", "A100");
  const Profile now = with_condition(recording(2e6, 2), "device", "H100");
  const CheckedBudget out = checked(base, now, "step_time+3%");
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_EQ(out.reason, "that condition differs: A100 → H100");
  EXPECT_EQ(checked(base, now, "step_time<1ms").judgement, Judgement::over);
}

TEST(Check, ConditionsAreThoseOfAllRuns) {
  Runs base;
  Runs now;
  for (std::uint64_t i = 0; i < 6; ++i) {
    base.push_back({with_condition(recording(1e6, 2 * i + 1), "seed", std::to_string(i))});
    now.push_back({with_condition(recording(1e6, 2 * i + 2), "seed", std::to_string(5 - i))});
  }
  EXPECT_TRUE(check(base, now, "step_time+3%").checks.front().differs.empty())
      << "in whichever order runs had them";
  now.back().front().conditions.front().value = "7";
  const auto differs = check(base, now, "step_time+3%").checks.front().differs;
  ASSERT_EQ(differs.size(), 1U);
  EXPECT_EQ(differs.front().base, "0, 1, 2, 3, 4, 5");
  EXPECT_EQ(differs.front().now, "1, 2, 3, 4, 5, 7");
}

TEST(Check, ADeviceThatOneRunOfManyHadMakesTimesIncomparable) {
  Runs base;
  Runs now;
  for (std::uint64_t i = 0; i < 6; ++i) {
    base.push_back({with_condition(recording(1e6, 2 * i + 1), "device", "A100")});
    now.push_back({with_condition(recording(1e6, 2 * i + 2), "device", i == 5 ? "H100" : "A100")});
  }
  take_turns(base, now);
  const CheckedBudget out = check(base, now, "step_time+3%").checks.front().budgets.front();
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_EQ(out.reason, "that condition differs: A100 → A100, H100");
}

TEST(Check, ConditionsOfOtherRanksAreNamedWithTheirs) {
  fathom::Run base = {recording(1e6, 1), recording(1e6, 2)};
  fathom::Run now = {recording(1e6, 3), recording(1e6, 4)};
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    base[at].rank = now[at].rank = rank;
    base[at] = with_condition(base[at], "seed", "1");
    now[at] = with_condition(now[at], "seed", rank == 0 ? "1" : "2");
  }
  const auto differs = check({base}, {now}, "step_time+3%").checks.front().differs;
  ASSERT_EQ(differs.size(), 1U);
  EXPECT_EQ(differs.front().title, "that condition of rank 1");
}

TEST(Check, AnotherClockDecidesOnlyWithItsCycles) {
  Profile base = recording(1e6, 1);
  Profile now = recording(1.1e6, 2);
  base.clock_mhz = 2000;
  now.clock_mhz = 1800;
  EXPECT_EQ(checked(base, now, "step_time+5%").judgement, Judgement::undecided);
  EXPECT_NE(checked(base, now, "step_time+5%").reason.find("clock differs"), std::string::npos);
  EXPECT_EQ(checked(base, recording(1.5e6, 3), "step_time+5%").judgement, Judgement::over);
  Profile slow = recording(1.5e6, 4);
  slow.clock_mhz = 1800;
  EXPECT_EQ(checked(base, slow, "step_time+5%").judgement, Judgement::over);
}

TEST(Check, OfRanksTheWorstCounts) {
  const auto rank = [](std::int64_t number, double ns, std::uint64_t seed) {
    Profile profile = recording(ns, seed);
    profile.rank = number;
    return profile;
  };
  const Runs base = {{rank(0, 1e6, 1), rank(1, 1e6, 2)}};
  const CheckedBudget slow =
      check(base, {{rank(0, 1e6, 3), rank(1, 2e6, 4)}}, "step_time+10%").checks[0].budgets[0];
  EXPECT_EQ(slow.judgement, Judgement::over);
  EXPECT_EQ(slow.rank, 1);
  const CheckedBudget missing =
      check(base, {{rank(0, 1e6, 3), rank(2, 1e6, 4)}}, "step_time+10%").checks[0].budgets[0];
  EXPECT_EQ(missing.judgement, Judgement::undecided);
  EXPECT_NE(missing.reason.find("is missing in"), std::string::npos);
}

TEST(Check, EachMissingRankIsNamedBesideTheOneThatIsShown) {
  const auto ranks = [](std::initializer_list<std::int64_t> of, std::uint64_t seed) {
    Runs runs(1);
    for (const std::int64_t rank : of) {
      runs[0].push_back(recording(1e6, seed + static_cast<std::uint64_t>(rank)));
      runs[0].back().rank = rank;
    }
    return runs;
  };
  // Rank 0 is undecided by itself: the interval holds the limit.
  const CheckedBudget out =
      check(ranks({0, 1, 2}, 1), ranks({0, 3}, 101), "step_time+0%").checks[0].budgets[0];
  EXPECT_EQ(out.judgement, Judgement::undecided);
  EXPECT_EQ(out.rank, 0);
  for (const std::string_view missing :
       {"rank 1 is missing in new", "rank 2 is missing in new", "rank 3 is missing in base"})
    EXPECT_NE(out.reason.find(missing), std::string::npos) << out.reason;
}

TEST(Check, ARankThatBaseLacksIsJudgedByANumber) {
  const auto ranks = [](std::uint64_t seed, int count) {
    std::vector<Profile> run;
    for (int number = 0; number < count; ++number) {
      run.push_back(recording(number == 0 ? 1e6 : 3e6, seed + static_cast<std::uint64_t>(number)));
      run.back().rank = number;
    }
    return run;
  };
  for (const Runs& now : {Runs{ranks(10, 2)}, Runs{ranks(10, 2), ranks(20, 2)}}) {
    const CheckedBudget out = check({ranks(1, 1)}, now, "step_time<2ms").checks[0].budgets[0];
    EXPECT_EQ(out.judgement, Judgement::over) << out.reason;
    EXPECT_EQ(out.rank, 1);
    EXPECT_FALSE(out.base);
    EXPECT_TRUE(out.interval);
  }
}

TEST(Check, AbsoluteBudgetsAreCheckedOnce) {
  const std::vector<CheckReference> references = {{"last", "", {{recording(1e6, 1)}}},
                                                  {"accepted", "", {{recording(0.5e6, 2)}}}};
  const std::vector<Budget> budgets = {*parse_budget("step_time+50%"),
                                       *parse_budget("step_time<2ms")};
  const Runs now = {{recording(1e6, 3)}};
  const CheckedRuns out = check_runs(references, now, budgets, Claims::within_runs);
  EXPECT_EQ(out.checks[0].budgets.size(), 2U);
  EXPECT_EQ(out.checks[1].budgets.size(), 1U);
  EXPECT_EQ(out.checks[0].budgets[0].judgement, Judgement::within);
  // Small losses that were let pass add up against what was accepted.
  EXPECT_EQ(out.judgement(), Judgement::over);
  EXPECT_EQ(out.count(Judgement::within), 2U);
}

/// One program against itself: pairs of runs that differ by 5 % from run to run, random order.
TEST(Check, PairsOfOneProgramAreOverInAtMostFivePercent) {
  std::mt19937_64 bits(7);
  std::normal_distribution<double> noise(1, 0.05);
  int over = 0;
  constexpr int kRepeats = 1000;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Runs base;
    Runs now;
    for (std::uint64_t i = 0; i < 7; ++i) {
      base.push_back({recording(1e6 * noise(bits), bits(), 3)});
      now.push_back({recording(1e6 * noise(bits), bits(), 3)});
    }
    take_turns(base, now);
    over +=
        check(base, now, "step_time+0%", Claims::over_runs).judgement() == Judgement::over ? 1 : 0;
  }
  // One-sided: half of 5 %.
  EXPECT_LE(over, kRepeats * 5 / 100);
}

}  // namespace
}  // namespace fathom
