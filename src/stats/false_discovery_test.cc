#include "stats/false_discovery.h"

#include <random>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(FalseDiscovery, RejectsAsInThePaper) {
  // The example of Benjamini and Hochberg (1995), section 2.3: the four smallest at 5 %.
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<bool> rejected = reject_with_false_discovery_rate(p, 0.05);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(rejected[i], i < 4) << i;
}

TEST(FalseDiscovery, OfNothingRejectsNothing) {
  EXPECT_TRUE(reject_with_false_discovery_rate({}, 0.05).empty());
}

TEST(FalseDiscovery, OfManyTrueHypothesesRejectsAnyInAtMostFivePercent) {
  std::mt19937_64 bits(11);
  int claims = 0;
  for (int repeat = 0; repeat < 1000; ++repeat) {
    std::vector<double> p;
    p.reserve(100);
    for (int i = 0; i < 100; ++i) p.push_back(static_cast<double>(bits() >> 11U) * 0x1p-53);
    bool any = false;
    for (const bool rejected : reject_with_false_discovery_rate(p, 0.05)) any = any || rejected;
    claims += any ? 1 : 0;
  }
  EXPECT_LE(claims, 65);
}

}  // namespace
}  // namespace fathom
