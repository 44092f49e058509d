#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule late_rank();

namespace {

constexpr std::int64_t kUs = 1000;

/// Steps of 1 ms with one all-reduce each, of the given lengths in µs.
void steps(TraceBuilder& builder, std::initializer_list<std::int64_t> lengths, bool sized = true) {
  std::int64_t at = 0;
  for (const std::int64_t length : lengths) {
    builder.step(at, at * kUs, 1000 * kUs);
    TraceBuilder::Event op = builder.op("record_param_comms", at * kUs + 1, 20);
    if (sized) op.shapes("[[1000]]").types("[\"float\"]");
    builder.runtime("cudaLaunchKernel", at * kUs + 5, 5, 100 + at);
    builder.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at * kUs + 20, length * kUs,
                   100 + at);
    at += 1000;
  }
}

TEST(LateRank, IsToldByCallsMuchLongerThanTheShortest) {
  TraceBuilder builder;
  steps(builder, {50, 450, 50, 450});
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(late_rank());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::straggler);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 800 * kUs);
  EXPECT_NE(findings[0].counter_evidence.find("does not show which rank is late"),
            std::string::npos);
}

TEST(LateRank, IsNothingWhereEqualCallsTakeAsLong) {
  TraceBuilder builder;
  steps(builder, {200, 210, 220, 200});
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(late_rank()).empty());
  EXPECT_EQ(judged.abstains(late_rank()), "");
}

TEST(LateRank, IsToldWhereAllCallsTakeLongerThanAnyNetworkNeeds) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 2; ++i) {
    builder.step(i, 10'000 * kUs * i, 10'000 * kUs);
    builder.op("aten::mm", 10'000 * kUs * i + 9000 * kUs, 900 * kUs);
  }
  builder.on_thread(2);
  for (std::int64_t i = 0; i < 2; ++i) {
    builder.annotation("gloo:all_reduce", 10'000 * kUs * i + 100, 8000 * kUs)
        .shapes("[[1000]]")
        .types("[\"float\"]");
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(late_rank());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].confidence, Confidence::low);
  EXPECT_FALSE(findings[0].edits.scale.empty()) << "the transfer stays, by the links there are";
}

TEST(LateRank, AbstainsWithoutSizes) {
  TraceBuilder builder;
  steps(builder, {50, 450, 50, 450}, /*sized=*/false);
  EXPECT_NE(JudgedTrace(builder).abstains(late_rank()), "");
}

TEST(LateRank, IsNothingWithOneRank) {
  TraceBuilder builder;
  steps(builder, {50, 450, 50, 450});
  builder.distributed({.backend = "nccl", .rank = 0, .world_size = 1});
  EXPECT_TRUE(JudgedTrace(builder).findings(late_rank()).empty());
}

}  // namespace
}  // namespace fathom
