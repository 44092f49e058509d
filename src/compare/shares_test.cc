#include "compare/shares.h"

#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(LargestRemainder, RoundsUpWhatLosesMost) {
  // 1/3, 1/3, 4/3: together 2.
  const std::vector<Wide> thirds = {1, 1, 4};
  EXPECT_EQ(by_largest_remainder(thirds, 3, 2), (std::vector<std::int64_t>{1, 0, 1}));
}

TEST(LargestRemainder, KeepsNegativeSumsToo) {
  const std::vector<Wide> halves = {-3, 1, -1};  // -1.5, 0.5, -0.5: together -1.5
  for (const std::int64_t total : {-1, -2}) {
    const std::vector<std::int64_t> parts = by_largest_remainder(halves, 2, total);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), total);
  }
}

TEST(LargestRemainder, SumsToTheTotalWithinOneOfEachFraction) {
  std::mt19937_64 bits(3);
  for (int repeat = 0; repeat < 1000; ++repeat) {
    const auto base_steps = static_cast<std::int64_t>(bits() % 50 + 1);
    const auto new_steps = static_cast<std::int64_t>(bits() % 50 + 1);
    const StepFractions fractions(base_steps, new_steps);
    std::vector<Wide> parts;
    Wide sum = 0;
    for (std::size_t i = 0; i < bits() % 20 + 1; ++i) {
      parts.push_back(fractions.change_of_mean(static_cast<std::int64_t>(bits() % 1'000'000),
                                               static_cast<std::int64_t>(bits() % 1'000'000)));
      sum += parts.back();
    }
    const std::int64_t total = fractions.rounded(sum);
    const std::vector<std::int64_t> shares =
        by_largest_remainder(parts, fractions.denominator(), total);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), total);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Wide distance = shares[i] * fractions.denominator() - parts[i];
      EXPECT_TRUE(-fractions.denominator() < distance && distance < fractions.denominator());
    }
  }
}

TEST(StepFractions, RoundHalvesAwayFromZero) {
  const StepFractions fractions(2, 1);
  EXPECT_EQ(fractions.rounded(fractions.change_of_mean(1, 0)), -1);  // -0.5
  EXPECT_EQ(fractions.rounded(fractions.change_of_mean(-1, 0)), 1);
  EXPECT_EQ(fractions.rounded(fractions.change_of_median(3, 6)), 2);  // 1.5 to 3
}

TEST(StepFractions, HoldDaysOfNanosecondsOverMillionsOfSteps) {
  constexpr std::int64_t kDay = 86'400'000'000'000;
  const StepFractions fractions(3'000'000, 7'000'000);
  EXPECT_EQ(fractions.rounded(fractions.change_of_mean(0, 7 * kDay)), kDay / 1'000'000);
}

}  // namespace
}  // namespace fathom
