#include "stats/paired_signs.h"

#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::vector<double> times(std::size_t low, std::size_t high) {
  std::vector<double> values(low, 1);
  values.insert(values.end(), high, 3);
  return values;
}

TEST(SignTest, OfSixPairsOnOneSideIsTwiceTwoToTheMinusSix) {
  EXPECT_NEAR(*sign_test_p(times(0, 6), times(6, 0)), 2.0 / 64, 1e-12);
}

TEST(SignTest, CountsBothTails) {
  // 2·(1 + 10 + 45) / 1024, as printed in tables of the binomial distribution.
  EXPECT_NEAR(*sign_test_p(std::vector<double>(10, 2), times(2, 8)), 0.109375, 1e-12);
}

TEST(SignTest, LeavesEqualPairsOut) {
  EXPECT_DOUBLE_EQ(*sign_test_p(times(3, 0), times(3, 0)), 1);
  EXPECT_NEAR(*sign_test_p(times(4, 6), times(4 + 6, 0)), 2.0 / 64, 1e-12);
}

TEST(SignTest, IsUnsetWithoutPairs) {
  EXPECT_FALSE(sign_test_p({}, {}));
  EXPECT_FALSE(sign_test_p(times(1, 0), times(2, 0)));
}

}  // namespace
}  // namespace fathom
