#include "stats/precision.h"

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stats/paired_ratio.h"

namespace fathom {
namespace {

struct Pairs {
  std::vector<double> base;
  std::vector<double> now;
};

/// Log ratios of this mean and deviation.
Pairs made(std::size_t count, double mean, double deviation, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  const auto uniform = [&] { return static_cast<double>(bits() >> 11U) * 0x1p-53; };
  Pairs pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const double normal =
        std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform());
    pairs.base.push_back(1);
    pairs.now.push_back(std::exp(mean + deviation * normal));
  }
  return pairs;
}

TEST(BlindHalfWidth, DoesNotChangeWhenSidesOfPairsAreSwapped) {
  Pairs pairs = made(60, 0.005, 0.01, 1);
  const double before = *blind_half_width(pairs.base, pairs.now);
  for (std::size_t i = 0; i < pairs.base.size(); i += 3) std::swap(pairs.base[i], pairs.now[i]);
  EXPECT_NEAR(*blind_half_width(pairs.base, pairs.now), before, 1e-12);
}

TEST(BlindHalfWidth, IsNearTheOneOfTheIntervalWhateverTheDifference) {
  for (const double mean : {0.0, 0.01, 0.02, 0.03, 0.05, 0.3}) {
    double blind = 0;
    double seen = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const Pairs pairs = made(100, mean, 0.01, seed);
      blind += *blind_half_width(pairs.base, pairs.now);
      const Bounds interval = paired_ratio(pairs.base, pairs.now)->interval;
      seen += std::log(interval.high / interval.low) / 2;
    }
    EXPECT_GT(blind / seen, 0.7) << mean;
    EXPECT_LT(blind / seen, 1.7) << mean;
  }
}

TEST(BlindHalfWidthInOrder, IsWideWhereTheFirstOfAPairPays) {
  // Every pair 5 % apart and nearly equal to the next, by side on both sides of 0.
  const Pairs pairs = made(40, 0.05, 0.002, 1);
  EXPECT_LT(*blind_half_width(pairs.base, pairs.now), 0.005);
  EXPECT_GT(*blind_half_width_in_order(pairs.base, pairs.now), 0.02);
  EXPECT_GT(*blind_half_width_in_order(pairs.now, pairs.base), 0.02);
}

TEST(BlindHalfWidthInOrder, IsWideWhereTimeAlternates) {
  Pairs pairs = made(40, 0.05, 0.002, 1);
  for (std::size_t i = 0; i < pairs.base.size(); i += 2) std::swap(pairs.base[i], pairs.now[i]);
  EXPECT_GT(*blind_half_width_in_order(pairs.base, pairs.now), 0.02);
}

TEST(BlindHalfWidthInOrder, IsNarrowWhereOneSideIsSlower) {
  // The same by side: in the order of time, which was drawn, half of them are the other way round.
  Pairs pairs = made(40, 0.05, 0.002, 1);
  std::mt19937_64 bits(3);
  for (std::size_t i = 0; i < pairs.base.size(); ++i) {
    if ((bits() & 1U) != 0) std::swap(pairs.base[i], pairs.now[i]);
  }
  EXPECT_NEAR(*blind_half_width_in_order(pairs.base, pairs.now),
              *blind_half_width(pairs.base, pairs.now), 1e-12);
}

TEST(BlindHalfWidthInOrder, IsTheLargerOfTwoEstimatesWhereThatIsAskedFor) {
  // A third of the pairs is ten times as far apart: heavy tails.
  const std::vector<double> first(20, 1.0);
  std::vector<double> second;
  for (unsigned i = 0; i < 20; ++i) {
    const double size = (i % 3 == 0 ? 0.1 : 0.01) * (1 + 0.01 * i);
    second.push_back(std::exp((0x5B1A6U >> i & 1U) != 0 ? size : -size));
  }
  const double smaller = *blind_half_width_in_order(first, second);
  const double larger = *blind_half_width_in_order(first, second, Reach::larger);
  EXPECT_GT(larger, smaller);
  EXPECT_EQ(smaller, *blind_half_width(first, second));
}

TEST(BlindHalfWidth, IsUnsetBelowSixPairsAndForTimesOfZero) {
  const Pairs pairs = made(6, 0, 0.01, 3);
  EXPECT_TRUE(blind_half_width(pairs.base, pairs.now));
  EXPECT_FALSE(blind_half_width(std::span(pairs.base).first(5), std::span(pairs.now).first(5)));
  EXPECT_FALSE(blind_half_width(std::vector<double>(6, 0.0), pairs.now));
}

TEST(BlindHalfWidth, ZerosAreWideUntilHalfOfThePairsHaveOne) {
  Pairs pairs = made(40, 0, 0.01, 5);
  const double before = *blind_half_width(pairs.base, pairs.now);
  pairs.now[7] = 0;
  pairs.base[9] = pairs.now[9] = 0;
  const double after = *blind_half_width(pairs.base, pairs.now);
  EXPECT_GE(after, before);
  EXPECT_LT(after, 2 * before);
  for (std::size_t i = 0; i < 20; ++i) (i % 2 == 0 ? pairs.base : pairs.now)[i] = 0;
  EXPECT_FALSE(blind_half_width(pairs.base, pairs.now));
  EXPECT_FALSE(blind_half_width_in_order(pairs.base, pairs.now));
}

TEST(PairsFor, GrowWithTheSquareOfThePrecision) {
  EXPECT_EQ(pairs_for(0.01, 0.02, 20), 80U);
  EXPECT_EQ(pairs_for(0.01, 0.0001, 20), 6U);
  EXPECT_EQ(pairs_for(1e-9, 1, 20), 1'000'000'000U);
}

}  // namespace
}  // namespace fathom
