#include "sample/allowed_cost.h"

#include <gtest/gtest.h>

namespace fathom::sample {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(AllowedCost, AStartMayTake50MsAtOnce) {
  EXPECT_EQ(allowed_cost(0.01, 0), 50 * kMs);
  EXPECT_EQ(allowed_cost(0.01, 1000 * kMs), 55 * kMs);
}

TEST(AllowedCost, AfterTenSecondsAllOfItIsWithinTheShare) {
  for (const double share : {0.01, 0.03}) {
    for (const std::int64_t seconds : {10, 11, 3600})
      EXPECT_EQ(allowed_cost(share, seconds * 1000 * kMs),
                static_cast<std::int64_t>(share * 1e9) * seconds);
  }
}

}  // namespace
}  // namespace fathom::sample
