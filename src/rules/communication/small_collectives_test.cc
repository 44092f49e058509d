#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule small_collectives();

namespace {

constexpr std::int64_t kCalls = 12;

/// A step of 2000 ns: a product, then 12 all-reduces of 50 ns; between them another product, if so.
void reduces(TraceBuilder& builder, std::string_view shapes, bool products = false) {
  builder.step(0, 0, 2000);
  builder.runtime("cudaLaunchKernel", 1, 2, 1);
  builder.on_stream(7).kernel("ampere_sgemm_128x64_tn", 10, 490, 1);
  for (std::int64_t i = 0; i < kCalls; ++i) {
    builder.op("nccl:all_reduce", 10 + 30 * i, 10).shapes(shapes).types(R"(["float"])");
    builder.runtime("cudaLaunchKernel", 12 + 30 * i, 1, 100 + i);
    builder.on_stream(20).kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 500 + 100 * i, 50,
                                 100 + i);
    if (!products) continue;
    builder.runtime("cudaLaunchKernel", 25 + 30 * i, 1, 200 + i);
    builder.on_stream(7).kernel("ampere_sgemm_128x64_tn", 550 + 100 * i, 50, 200 + i);
  }
}

TEST(SmallCollectives, AreThoseWithoutAProductBetweenThem) {
  TraceBuilder builder;
  reduces(builder, "[[64,4]]");
  const auto findings = JudgedTrace(builder).findings(small_collectives());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::communication);
  EXPECT_NE(findings[0].title.find("600 ns (30.0 % of the step)"), std::string::npos)
      << findings[0].title;
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 480, 1);
  EXPECT_EQ(findings[0].edits.scale.size(), static_cast<std::size_t>(kCalls));
}

TEST(SmallCollectives, BetweenProductsCannotBeJoined) {
  TraceBuilder builder;
  reduces(builder, "[[64,4]]", true);
  EXPECT_TRUE(JudgedTrace(builder).findings(small_collectives()).empty());
}

TEST(SmallCollectives, ThatAreLargeAreNothing) {
  TraceBuilder builder;
  reduces(builder, "[[1024,1024]]");
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(small_collectives()).empty());
  EXPECT_EQ(judged.abstains(small_collectives()), "");
}

TEST(SmallCollectives, AreToldByTheirTimeWhereSizesWereNotRecorded) {
  for (const std::int64_t length : {20'000, 40'000}) {
    TraceBuilder builder;
    builder.step(0, 0, 2'000'000);
    for (std::int64_t i = 0; i < kCalls; ++i) {
      builder.op("nccl:all_reduce", 10 + 30 * i, 10);
      builder.runtime("cudaLaunchKernel", 12 + 30 * i, 1, 100 + i);
      builder.on_stream(20).kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
                                   50'000 * (i + 1), length, 100 + i);
    }
    const auto findings = JudgedTrace(builder).findings(small_collectives());
    ASSERT_EQ(findings.size(), length == 20'000 ? 1U : 0U);
    if (findings.empty()) continue;
    EXPECT_NE(findings[0].evidence[0].text.find("not recorded"), std::string::npos);
  }
}

TEST(SmallCollectives, AbstainWhereSizesWereNotRecorded) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.runtime("cudaLaunchKernel", 1, 2, 1);
  builder.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 10, 490, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(small_collectives()), "");
}

TEST(SmallCollectives, WithoutADeviceAreToldByTheShortestQuarterOfARow) {
  const auto found = [](std::int64_t shortest, std::string_view name = "gloo:all_reduce") {
    TraceBuilder builder;
    builder.step(0, 0, 20'000'000);
    for (std::int64_t i = 0; i < kCalls; ++i)
      builder.annotation(name, 1'500'000 * i, i < 6 ? shortest : 1'200'000);
    builder.op("aten::add", 19'000'000, 1'000);
    return JudgedTrace(builder).findings(small_collectives());
  };
  const std::vector<Finding> findings = found(300'000);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].confidence, Confidence::low);
  EXPECT_NE(findings[0].evidence[0].text.find("sizes were not recorded"), std::string::npos);
  EXPECT_TRUE(found(900'000).empty()) << "may be large";
  EXPECT_TRUE(found(300'000, "nccl:all_reduce").empty()) << "the device's part is not there";
}

}  // namespace
}  // namespace fathom
