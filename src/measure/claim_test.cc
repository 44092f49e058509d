#include "measure/claim.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

/// Twenty pairs whose ratios lie evenly within `spread` around `ratio`.
Claim claim_around(double ratio, double spread, double resolution = 0.01) {
  std::vector<double> base(20, 100.0);
  std::vector<double> now;
  now.reserve(base.size());
  for (int i = 0; i < 20; ++i) now.push_back(100 * (ratio + spread * (i - 9.5) / 9.5));
  return claim_of(base, now, resolution);
}

TEST(Claim, IsByWhereTheIntervalLies) {
  EXPECT_EQ(claim_around(1.05, 0.01).verdict, Verdict::slower);
  EXPECT_EQ(claim_around(0.95, 0.01).verdict, Verdict::faster);
  EXPECT_EQ(claim_around(1.0, 0.01).verdict, Verdict::same);
  EXPECT_EQ(claim_around(1.0, 0.1).verdict, Verdict::cannot_tell);
}

TEST(Claim, OfADifferenceBelowTheResolutionIsSame) {
  const Claim claim = claim_around(1.004, 0.001);
  EXPECT_EQ(claim.verdict, Verdict::same);
  EXPECT_TRUE(claim.ratio->differs());
  EXPECT_EQ(claim_around(1.004, 0.001, 0.001).verdict, Verdict::slower);
}

TEST(Claim, IsNotMadeBelowSixPairs) {
  const std::vector<double> base(5, 1.0);
  const std::vector<double> now(5, 9.0);
  const Claim claim = claim_of(base, now, 0.01);
  EXPECT_EQ(claim.verdict, Verdict::cannot_tell);
  EXPECT_EQ(claim.reason, "5 pairs: below 6 nothing can be claimed at 5 %");
}

TEST(WithinText, HasTheDigitsOfTheResolution) {
  EXPECT_EQ(within_text(0.01), "±1 %");
  EXPECT_EQ(within_text(0.005), "±0.5 %");
  EXPECT_EQ(within_text(0.00001), "±0.001 %");
}

TEST(Claim, BesideOthersMustHoldTogetherWithThem) {
  std::vector<Claim> claims(2);
  for (Claim& claim : claims) claim.verdict = Verdict::slower;
  claims[0].p = 0.04;
  claims[1].p = 0.9;
  judge_together(claims);
  EXPECT_EQ(claims[0].verdict, Verdict::cannot_tell);
  claims[0].verdict = Verdict::slower;
  claims[0].p = 0.001;
  judge_together(claims);
  EXPECT_EQ(claims[0].verdict, Verdict::slower);
}

}  // namespace
}  // namespace fathom::measure
