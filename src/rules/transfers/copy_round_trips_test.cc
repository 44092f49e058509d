#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule copy_round_trips();

namespace {

/// A step of 1000 ns: a copy to the host of `down` bytes, and 300 ns later one of `up` bytes back.
void trip(TraceBuilder& builder, std::int64_t down, std::int64_t up) {
  builder.step(0, 0, 1000);
  builder.op("aten::to", 90, 120);
  builder.runtime("cudaMemcpyAsync", 95, 110, 1);
  builder.copy(CopyKind::d2h, 100, 100, 1, down);
  builder.op("aten::to", 480, 120);
  builder.runtime("cudaMemcpyAsync", 490, 10, 2);
  builder.copy(CopyKind::h2d, 500, 100, 2, up);
}

TEST(CopyRoundTrips, AreToldWithBothCopiesAndWhatLiesBetween) {
  TraceBuilder builder;
  trip(builder, 4096, 4096);
  const auto findings = JudgedTrace(builder).findings(copy_round_trips());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 500, 10);
  EXPECT_EQ(findings[0].confidence, Confidence::low);
}

TEST(CopyRoundTrips, AreNothingWhereSizesDiffer) {
  TraceBuilder builder;
  trip(builder, 4096, 8192);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(copy_round_trips()).empty());
  EXPECT_EQ(judged.abstains(copy_round_trips()), "");
}

TEST(CopyRoundTrips, AreNothingForAFewBytes) {
  TraceBuilder builder;
  trip(builder, 8, 8);
  EXPECT_TRUE(JudgedTrace(builder).findings(copy_round_trips()).empty());
}

TEST(CopyRoundTrips, AreNothingWhereTheUploadWasLaunchedBefore) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.runtime("cudaMemcpyAsync", 10, 10, 1);
  builder.copy(CopyKind::d2h, 100, 100, 1, 4096);
  builder.runtime("cudaMemcpyAsync", 30, 10, 2);
  builder.copy(CopyKind::h2d, 200, 100, 2, 4096);
  EXPECT_TRUE(JudgedTrace(builder).findings(copy_round_trips()).empty());
}

TEST(CopyRoundTrips, AbstainWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(copy_round_trips()), "");
}

}  // namespace
}  // namespace fathom
