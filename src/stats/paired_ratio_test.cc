#include "stats/paired_ratio.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// The same numbers from every standard library.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : bits_(seed) {}
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits_() >> 11U) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  bool coin() { return (bits_() & 1U) != 0; }

 private:
  std::mt19937_64 bits_;
};

/// The time of the i-th measurement of a thing that does not change, by what disturbs it.
struct Kind {
  std::string name;
  std::function<double(Noise&, std::size_t i, std::size_t n)> time;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"white", [](Noise& noise, std::size_t, std::size_t) { return 1 + 0.02 * noise.normal(); }},
      {"drift",
       [](Noise& noise, std::size_t i, std::size_t n) {
         return 1 + 0.1 * static_cast<double>(i) / static_cast<double>(n) + 0.01 * noise.normal();
       }},
      {"leader pays 1 %",
       [](Noise& noise, std::size_t i, std::size_t) {
         return (i % 2 == 0 ? 1.01 : 1.0) + 0.002 * noise.normal();
       }},
      {"period of four",
       [](Noise& noise, std::size_t i, std::size_t) {
         return (i % 4 == 1 || i % 4 == 2 ? 1.02 : 1.0) + 0.002 * noise.normal();
       }},
      {"two modes",
       [](Noise& noise, std::size_t, std::size_t) {
         return (noise.uniform() < 0.3 ? 1.2 : 1.0) + 0.01 * noise.normal();
       }},
      {"heavy tail", [](Noise& noise, std::size_t,
                        std::size_t) { return 1 + 0.01 / std::pow(1 - noise.uniform(), 0.8); }},
      {"zeros", [](Noise& noise, std::size_t,
                   std::size_t) { return noise.uniform() < 0.2 ? 0 : 1 + 0.01 * noise.normal(); }},
  };
  return all;
}

/// Pairs of one thing and of another that takes `factor` times as long, in random order.
std::optional<PairedRatio> measure(const Kind& kind, Noise& noise, std::size_t pairs,
                                   double factor) {
  std::vector<double> base;
  std::vector<double> now;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double first = kind.time(noise, 2 * i, 2 * pairs);
    const double second = kind.time(noise, 2 * i + 1, 2 * pairs);
    const bool base_first = noise.coin();
    base.push_back(base_first ? first : second);
    now.push_back(factor * (base_first ? second : first));
  }
  return paired_ratio(base, now);
}

double share_of_claims(const Kind& kind, std::size_t pairs, double factor) {
  constexpr int kRepeats = 1000;
  Noise noise(20'260'905);
  int claims = 0;
  for (int i = 0; i < kRepeats; ++i) {
    const std::optional<PairedRatio> found = measure(kind, noise, pairs, factor);
    claims += found && found->differs() ? 1 : 0;
  }
  return static_cast<double>(claims) / kRepeats;
}

TEST(PairedRatio, ClaimsOfAThingAndItselfAreWrongInAtMostFivePercentWhateverTheNoise) {
  // Of 1000 repeats, 65 are two standard deviations above 5 %.
  for (const Kind& kind : kinds()) {
    for (const std::size_t pairs : {6U, 20U, 100U})
      EXPECT_LE(share_of_claims(kind, pairs, 1), 0.065) << kind.name << ", " << pairs;
  }
}

TEST(PairedRatio, FindsATruePercentWhereTheNoiseIsTwo) {
  EXPECT_GE(share_of_claims(kinds().front(), 300, 1.01), 0.8);
}

TEST(PairedRatio, ClaimsNothingBelowSixPairs) {
  const std::vector<double> base = {1, 1, 1, 1, 1};
  const std::vector<double> now = {2, 2, 2, 2, 2};
  EXPECT_FALSE(paired_ratio(base, now));
}

TEST(PairedRatio, OfSixEqualPairsIsExact) {
  const std::vector<double> base = {1, 2, 3, 4, 5, 6};
  const std::vector<double> now = {2, 4, 6, 8, 10, 12};
  const std::optional<PairedRatio> found = paired_ratio(base, now);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->ratio, 2);
  EXPECT_TRUE(found->differs());
}

TEST(PairedRatio, OfAPairWithAZeroTheSignCounts) {
  std::vector<double> base(20, 1);
  std::vector<double> now(20, 2);
  now[3] = 0;
  const std::optional<PairedRatio> found = paired_ratio(base, now);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->ratio, 2);
  EXPECT_DOUBLE_EQ(found->interval.low, 2);
  // Of 20 the interval leaves out five at each end.
  for (const std::size_t place : {5U, 6U, 7U, 8U}) now[place] = 0;
  EXPECT_TRUE(paired_ratio(base, now)) << "five";
  now[9] = 0;
  EXPECT_FALSE(paired_ratio(base, now)) << "six: the lower end would have no number";
}

TEST(PairedRatio, APairOfTwoZerosCountsAgainstBothEnds) {
  std::vector<double> base = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  std::vector<double> now = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::optional<PairedRatio> before = paired_ratio(base, now);
  ASSERT_TRUE(before);
  EXPECT_NEAR(before->interval.low, 3, 1e-12);
  EXPECT_NEAR(before->interval.high, 10, 1e-12);
  base[4] = now[4] = 0;
  const std::optional<PairedRatio> after = paired_ratio(base, now);
  ASSERT_TRUE(after);
  EXPECT_NEAR(after->interval.low, 2, 1e-12);
  EXPECT_NEAR(after->interval.high, 11, 1e-12);
  base[5] = now[5] = 0;
  EXPECT_FALSE(paired_ratio(base, now)) << "of ten one is left out at each end";
}

TEST(PairedRatio, IsUnsetWhereAThingTookNoTime) {
  const std::vector<double> base = {1, 1, 1, 1, 1, 0};
  EXPECT_FALSE(paired_ratio(base, base));
  const std::vector<double> nothing(50, 0);
  EXPECT_FALSE(paired_ratio(nothing, nothing));
  EXPECT_FALSE(paired_ratio(std::vector<double>(50, -1), std::vector<double>(50, 1)));
}

}  // namespace
}  // namespace fathom
