// Sizes are doubled, then halved, until the place is found.
#include "measure/size_search.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

constexpr std::size_t kPairs = 8;

/// The new side costs less from `place` on, by a thousandth a size; `noise` is that of the ratio,
/// alike on both sides of it.
std::vector<std::int64_t> search(SizeSearch& search, std::int64_t place, double noise = 0) {
  std::vector<std::int64_t> sizes;
  const std::vector<double> base(kPairs, 1000);
  while (const auto size = search.next()) {
    sizes.push_back(*size);
    const double centre = 1 + 0.001 * (static_cast<double>(place - *size) - 0.5);
    std::vector<double> now;
    for (std::size_t i = 0; i < kPairs; ++i)
      now.push_back(1000 * (std::max(centre, 0.5) + (i % 2 == 0 ? noise : -noise)));
    if (!search.add(base, now) || sizes.size() > 200) break;
  }
  return sizes;
}

TEST(SizeSearch, IsFoundToTheSize) {
  for (const std::int64_t place : {2, 3, 37, 64, 65, 999, 1000}) {
    SizeSearch crossover(1, 1000, 0);
    const std::vector<std::int64_t> sizes = search(crossover, place);
    EXPECT_EQ(crossover.faster_from(), place);
    EXPECT_EQ(crossover.slower_up_to(), place - 1);
    EXPECT_EQ(crossover.surely_faster(), place);
    EXPECT_EQ(crossover.surely_slower(), place - 1);
    EXPECT_LE(sizes.size(), 22U);
  }
}

TEST(SizeSearch, IsSoughtToTheResolution) {
  SizeSearch crossover(1, 4096, 0.05);
  search(crossover, 1000);
  ASSERT_TRUE(crossover.faster_from());
  EXPECT_LE(*crossover.faster_from() - *crossover.slower_up_to(), 50);
  EXPECT_GE(*crossover.faster_from(), 1000);
  EXPECT_LT(*crossover.slower_up_to(), 1000);
}

TEST(SizeSearch, AZeroOfOnePairDoesNotEndIt) {
  SizeSearch crossover(1, 100, 0);
  std::vector<double> now(kPairs, 2);
  now[2] = 0;
  EXPECT_TRUE(crossover.add(std::vector<double>(kPairs, 1), now));
  EXPECT_EQ(crossover.slower_up_to(), 1);
  const std::vector<double> nothing(kPairs, 0);
  EXPECT_FALSE(crossover.add(nothing, nothing)) << "nothing is known of any pair";
}

TEST(SizeSearch, ThatIsThereAtOnceNeedsOneSize) {
  SizeSearch crossover(8, 1000, 0);
  EXPECT_EQ(search(crossover, 1), std::vector<std::int64_t>{8});
  EXPECT_EQ(crossover.faster_from(), 8);
  EXPECT_EQ(crossover.slower_up_to(), std::nullopt);
}

TEST(SizeSearch, ThatIsNowhereEndsAtTheLargestSize) {
  SizeSearch crossover(1, 100, 0);
  EXPECT_EQ(search(crossover, 1000), (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64, 100}));
  EXPECT_EQ(crossover.faster_from(), std::nullopt);
  EXPECT_EQ(crossover.surely_slower(), 100);
}

TEST(SizeSearch, SaysWhatIsCertainWhereTheMediansAreNot) {
  SizeSearch crossover(1, 4096, 0.01);
  search(crossover, 1000, 0.1);
  EXPECT_EQ(crossover.surely_slower(), 896) << "a tenth more, and the ratios spread by a tenth";
  EXPECT_EQ(crossover.surely_faster(), std::nullopt) << "1024 was the largest";
  EXPECT_GT(*crossover.slower_up_to(), 896);
}

TEST(SizeSearch, EndsWhereThereIsNoRatio) {
  SizeSearch crossover(1, 100, 0);
  EXPECT_FALSE(crossover.add(std::vector<double>{1}, std::vector<double>{0}));
  EXPECT_FALSE(crossover.next());
  SizeSearch empty(1, 100, 0);
  EXPECT_FALSE(empty.add({}, {}));
}

TEST(SizeSearch, KnowsHowManySizesAreLeftOnceItHalves) {
  SizeSearch crossover(1, 4096, 0.01);
  std::optional<std::size_t> before;
  while (const auto size = crossover.next()) {
    const bool halves = crossover.faster_from().has_value();
    ASSERT_EQ(crossover.left().has_value(), halves) << *size;
    if (halves) {
      EXPECT_GE(*crossover.left(), 1U);
      EXPECT_LT(*crossover.left(), before.value_or(1000)) << *size;
      before = crossover.left();
    }
    crossover.add(std::vector<double>(8, 1000.0),
                  std::vector<double>(8, *size < 1000 ? 1100.0 : 900.0));
  }
  ASSERT_TRUE(before);
  EXPECT_EQ(crossover.left(), 0U);
}

TEST(SizeSearch, WhatIsNotCertainSaysWhereToLookAndNothingForSure) {
  SizeSearch crossover(1, 1, 0);
  EXPECT_TRUE(crossover.add(std::vector<double>(8, 1.0), std::vector<double>(8, 2.0), false));
  EXPECT_EQ(crossover.slower_up_to(), 1);
  EXPECT_EQ(crossover.surely_slower(), std::nullopt);
}

TEST(SizeSearch, OneOfManySizesThatLooksSoMayDoSoByChance) {
  SizeSearch crossover(1, 64, 0);
  while (const auto size = crossover.next()) {
    std::vector<double> now;
    for (std::size_t i = 0; i < kPairs; ++i) now.push_back(*size == 4 || i % 2 == 0 ? 1.01 : 0.995);
    crossover.add(std::vector<double>(kPairs, 1.0), now);
  }
  EXPECT_EQ(crossover.slower_up_to(), 64);
  EXPECT_EQ(crossover.surely_slower(), std::nullopt) << "8 of 8 pairs in one of 7 sizes";
}

TEST(SizeSearch, BelowSixPairsNothingIsCertain) {
  SizeSearch crossover(1, 1, 0);
  EXPECT_TRUE(crossover.add(std::vector<double>(5, 1.0), std::vector<double>(5, 2.0)));
  EXPECT_EQ(crossover.slower_up_to(), 1);
  EXPECT_EQ(crossover.surely_slower(), std::nullopt);
}

}  // namespace
}  // namespace fathom::measure
