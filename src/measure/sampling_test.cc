#include "measure/sampling.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "measure/claim.h"

namespace fathom::measure {
namespace {

/// The same numbers from every standard library.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : bits_(seed) {}
  double uniform() { return static_cast<double>(bits_() >> 11U) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 bits_;
};

/// The i-th time that a machine takes for a thing that does not change.
struct Machine {
  std::string name;
  std::function<double(Noise&, std::size_t i)> time;
};

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = {
      {"white", [](Noise& noise, std::size_t) { return 1 + 0.02 * noise.normal(); }},
      {"drift",
       [](Noise& noise, std::size_t i) {
         return 1 + 0.0005 * static_cast<double>(i) + 0.01 * noise.normal();
       }},
      {"leader pays 1 %",
       [](Noise& noise, std::size_t i) {
         return (i % 2 == 0 ? 1.01 : 1.0) + 0.002 * noise.normal();
       }},
      {"period of four",
       [](Noise& noise, std::size_t i) {
         return (i % 4 == 1 || i % 4 == 2 ? 1.02 : 1.0) + 0.002 * noise.normal();
       }},
      {"two modes",
       [](Noise& noise, std::size_t) {
         return (noise.uniform() < 0.3 ? 1.2 : 1.0) + 0.01 * noise.normal();
       }},
      {"heavy tail",
       [](Noise& noise, std::size_t) { return 1 + 0.01 / std::pow(1 - noise.uniform(), 0.8); }},
      // Processor time in user mode of a run of two ticks, which may both be of the system.
      {"ticks",
       [](Noise& noise, std::size_t) {
         const double drawn = noise.uniform();
         return (drawn < 0.03 ? 0 : drawn < 0.18 ? 0.5 : 1) * (1 + 0.01 * noise.normal());
       }},
  };
  return all;
}

/// Time passes as runs take it; no more than 300 pairs. `factor`: of the new side.
Sampled sample_on(const Machine& machine, SamplingPlan plan, double factor, std::uint64_t seed) {
  Noise noise(seed);
  std::size_t runs = 0;
  double clock_s = 0;
  plan.seed = seed;
  if (!plan.time) plan.time = std::chrono::seconds(600);
  return sample(plan,
                {.measure =
                     [&](Side side, std::size_t) {
                       const double time =
                           machine.time(noise, runs++) * (side == Side::now ? factor : 1);
                       clock_s += time;
                       return std::optional(time);
                     },
                 .elapsed = [&] { return duration_ns(static_cast<std::int64_t>(clock_s * 1e9)); },
                 .progress = {},
                 .announcement = {}});
}

Claim claim_on(const Machine& machine, const SamplingPlan& plan, double factor,
               std::uint64_t seed) {
  const Sampled sampled = sample_on(machine, plan, factor, seed);
  return claim_of(sampled.base, sampled.now, plan.resolution);
}

TEST(Sampling, ThatStopsWhenPreciseClaimsFalselyInAtMostFivePercentWhateverTheNoise) {
  constexpr int kRepeats = 1000;
  for (const Machine& machine : machines()) {
    int claims = 0;
    for (std::uint64_t seed = 0; seed < kRepeats; ++seed) {
      const Claim claim = claim_on(machine, {.resolution = 0.01}, 1, seed);
      claims += claim.ratio && claim.ratio->differs() ? 1 : 0;
    }
    // Two standard deviations above 5 %.
    EXPECT_LE(claims, 65) << machine.name;
  }
}

/// Of the same machines, the leader that pays 5 % among them.
std::vector<Machine> machines_for_power() {
  std::vector<Machine> all = machines();
  all.push_back({"leader pays 5 %", [](Noise& noise, std::size_t i) {
                   return (i % 2 == 0 ? 1.05 : 1.0) + 0.002 * noise.normal();
                 }});
  return all;
}

TEST(Sampling, ThatStopsAsPreciseIsSoWhateverTheNoiseAndFindsATrueDifference) {
  constexpr int kRepeats = 60;
  for (const Machine& machine : machines_for_power()) {
    for (const double factor : {1.0, 1.01}) {
      int precise = 0;
      int wide = 0;
      int found = 0;
      for (std::uint64_t seed = 0; seed < kRepeats; ++seed) {
        const Sampled sampled = sample_on(machine, {.resolution = 0.01}, factor, seed);
        const Claim claim = claim_of(sampled.base, sampled.now, 0.01);
        ASSERT_TRUE(claim.ratio);
        if (sampled.stopped != Stopped::precise) continue;
        ++precise;
        // Two and a half times what was promised, and said.
        const double half_width =
            std::log(claim.ratio->interval.high / claim.ratio->interval.low) / 2;
        wide += half_width > 0.0125 ? 1 : 0;
        EXPECT_EQ(wider_note(sampled, claim, 0.01).empty(), half_width <= 1.25 * 0.005);
        found += claim.verdict == Verdict::slower ? 1 : 0;
      }
      EXPECT_LE(wide, kRepeats * 5 / 100) << machine.name << " × " << factor;
      if (factor > 1) {
        EXPECT_GE(found, precise * 7 / 10) << machine.name;
      }
    }
  }
}

TEST(Sampling, FindsATrueDifferenceOfTheResolutionWithinTheTimeAnnounced) {
  constexpr int kRepeats = 100;
  int found = 0;
  for (std::uint64_t seed = 0; seed < kRepeats; ++seed) {
    const SamplingPlan plan{.resolution = 0.01};
    const Sampled pilot = sample_on(machines().front(), plan, 1.01, seed);
    ASSERT_TRUE(pilot.announced);
    SamplingPlan timed = plan;
    timed.until_precise = false;
    timed.time = pilot.announced->time;
    found += claim_on(machines().front(), timed, 1.01, seed).verdict == Verdict::slower ? 1 : 0;
  }
  EXPECT_GE(found, kRepeats * 8 / 10);
}

TEST(Sampling, ThatStopsWhenPreciseFindsATrueDifferenceWithinTheTimeAnnounced) {
  constexpr int kRepeats = 200;
  for (const Machine& machine : machines()) {
    // These need thousands of pairs for 1 %.
    if (machine.name == "period of four" || machine.name == "two modes") continue;
    int found = 0;
    for (std::uint64_t seed = 0; seed < kRepeats; ++seed) {
      const SamplingPlan plan{.time = std::chrono::seconds(6000), .resolution = 0.01};
      const Sampled sampled = sample_on(machine, plan, 1.01, seed);
      ASSERT_TRUE(sampled.announced) << machine.name;
      const bool in_time =
          sampled.stopped == Stopped::precise && sampled.now.size() <= sampled.announced->pairs;
      const Claim claim = claim_of(sampled.base, sampled.now, plan.resolution);
      found += in_time && claim.verdict == Verdict::slower ? 1 : 0;
    }
    EXPECT_GE(found, kRepeats * 8 / 10) << machine.name;
  }
}

TEST(Sampling, CallsAThingTheSameAsItselfInMostCases) {
  constexpr int kRepeats = 100;
  int same = 0;
  for (std::uint64_t seed = 0; seed < kRepeats; ++seed)
    same += claim_on(machines().front(), {.resolution = 0.01}, 1, seed).verdict == Verdict::same;
  EXPECT_GE(same, kRepeats * 7 / 10);
}

TEST(Sampling, StopsSoonWhereTheDifferenceIsLargeBesideTheNoise) {
  for (const double factor : {0.5, 1.1, 1.5}) {
    const Sampled sampled = sample_on(machines().front(), {.resolution = 0.05}, factor, 1);
    EXPECT_EQ(sampled.stopped, Stopped::precise) << factor;
    EXPECT_LE(sampled.now.size(), 40U) << factor;
  }
}

TEST(Sampling, DrawsTheOrderOfEachPairFromTheSeed) {
  const auto order_of = [](std::uint64_t seed) {
    std::string order;
    std::size_t last = SIZE_MAX;
    SamplingPlan plan{.runs = 200, .until_precise = false, .seed = seed};
    sample(plan, {.measure =
                      [&](Side side, std::size_t pair) {
                        if (pair != last) order += side == Side::base ? 'b' : 'n';
                        last = pair;
                        return std::optional(1.0);
                      },
                  .elapsed = [] { return Duration{}; },
                  .progress = {},
                  .announcement = {}});
    return order;
  };
  const std::string order = order_of(1);
  EXPECT_EQ(order.size(), 200U);
  EXPECT_EQ(order, order_of(1));
  EXPECT_NE(order, order_of(2));
  const auto base_first = std::count(order.begin(), order.end(), 'b');
  EXPECT_GT(base_first, 70);
  EXPECT_LT(base_first, 130);
}

TEST(Sampling, TakesExactlyTheRunsThatWereAsked) {
  SamplingPlan plan{.runs = 7, .until_precise = false};
  const Sampled sampled = sample_on(machines().front(), plan, 1, 3);
  EXPECT_EQ(sampled.base.size(), 7U);
  EXPECT_EQ(sampled.now.size(), 7U);
  EXPECT_EQ(sampled.stopped, Stopped::runs);
}

TEST(Sampling, EndsWithTheTimeButNotBelowTheLeastPairs) {
  SamplingPlan plan{.time = std::chrono::milliseconds(1), .until_precise = false, .least = 6};
  const Sampled sampled = sample_on(machines().front(), plan, 1, 3);
  EXPECT_EQ(sampled.now.size(), 6U);
  EXPECT_EQ(sampled.stopped, Stopped::time);
}

TEST(Sampling, KeepsCompletePairsWhenItIsAskedToStop) {
  int runs = 0;
  const SamplingPlan plan{.runs = 100};
  const Sampled sampled = sample(plan, {.measure = [&](Side, std::size_t) -> std::optional<double> {
                                          if (++runs > 9) return std::nullopt;
                                          return 1.0;
                                        },
                                        .elapsed = [] { return Duration{}; },
                                        .progress = {},
                                        .announcement = {}});
  EXPECT_EQ(sampled.stopped, Stopped::asked);
  EXPECT_EQ(sampled.base.size(), 4U);
  EXPECT_EQ(sampled.now.size(), 4U);
}

TEST(Sampling, GivesUpOnValuesOfZero) {
  const SamplingPlan plan{.resolution = 0.01};
  const Sampled sampled =
      sample(plan, {.measure = [](Side, std::size_t) { return std::optional(0.0); },
                    .elapsed = [] { return Duration{}; },
                    .progress = {},
                    .announcement = {}});
  EXPECT_EQ(sampled.stopped, Stopped::undecidable);
  EXPECT_EQ(claim_of(sampled.base, sampled.now, 0.01).reason,
            "too many values are 0, which has no ratio");
}

TEST(Sampling, GoesOnWhereOneValueIsZero) {
  std::size_t runs = 0;
  Noise noise(7);
  const Sampled sampled = sample({.runs = 200, .resolution = 0.001},
                                 {.measure = [&](Side side, std::size_t) -> std::optional<double> {
                                    if (++runs == 9) return 0;
                                    return (side == Side::now ? 1.01 : 1) + 0.002 * noise.normal();
                                  },
                                  .elapsed = [] { return Duration{}; },
                                  .progress = {},
                                  .announcement = {}});
  EXPECT_GT(sampled.now.size(), 20U) << "the pilot pairs, of which one has the 0";
  EXPECT_NE(sampled.stopped, Stopped::undecidable);
  EXPECT_EQ(claim_of(sampled.base, sampled.now, 0.001).verdict, Verdict::slower);
}

TEST(Sampling, OfOneSideStopsWhenItsMedianIsPrecise) {
  const SamplingPlan plan{.paired = false, .resolution = 0.01};
  const Sampled sampled = sample_on(machines().front(), plan, 1, 4);
  EXPECT_EQ(sampled.stopped, Stopped::precise);
  EXPECT_TRUE(sampled.base.empty());
  EXPECT_GE(sampled.now.size(), 6U);
}

}  // namespace
}  // namespace fathom::measure
