#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule data_loading();

namespace {

constexpr std::string_view kSingle = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr std::string_view kWorkers =
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

/// Three steps of 1000 ns, each with a fetch of `fetch` ns and a kernel for the rest.
void steps(TraceBuilder& builder, std::string_view iterator, std::int64_t fetch) {
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t at = 1000 * i;
    builder.step(i, at, 1000);
    builder.annotation(iterator, at + 1, fetch);
    builder.op("aten::mm", at + fetch + 5, 20);
    builder.runtime("cudaLaunchKernel", at + fetch + 10, 5, 100 + i);
    builder.kernel("gemm", at + fetch + 16, 984 - fetch, 100 + i);
  }
}

TEST(DataLoading, IsToldWhenTheDeviceWaitsForTheFetch) {
  TraceBuilder builder;
  steps(builder, kSingle, 400);
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "single-process");
  EXPECT_EQ(findings[0].family, Family::input);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_NEAR(judged.rules().percent(total(findings[0].claims)), 40, 1);
  EXPECT_EQ(findings[0].edits.overlap.size(), 3U);
}

TEST(DataLoading, TellsWorkersThatDoNotKeepUpFromNone) {
  TraceBuilder builder;
  steps(builder, kWorkers, 400);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "workers");
  EXPECT_TRUE(findings[0].edits.overlap.empty());
}

TEST(DataLoading, IsNothingWhenTheFetchIsShort) {
  TraceBuilder builder;
  steps(builder, kSingle, 30);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(data_loading()).empty());
  EXPECT_EQ(judged.abstains(data_loading()), "");
}

TEST(DataLoading, IsNothingWhenTheDeviceWorksMeanwhile) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::mm", 1, 20);
  builder.runtime("cudaLaunchKernel", 5, 5, 1);
  builder.kernel("gemm", 11, 989, 1);
  builder.annotation(kSingle, 100, 800);
  EXPECT_TRUE(JudgedTrace(builder).findings(data_loading()).empty());
}

TEST(DataLoading, CountsTheMainThreadWithoutADevice) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation(kSingle, 0, 600);
  builder.op("aten::stack", 100, 200);
  builder.op("aten::mm", 600, 400);
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 600);
}

TEST(DataLoading, SaysWhetherReadingIsTheLimitWhereFramesTell) {
  TraceBuilder builder;
  steps(builder, kSingle, 400);
  builder.frame("<built-in method read of _io.BufferedReader object at 0x7f>", 20, 350);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].evidence[0].text.find("storage is the limit"), std::string::npos);
}

TEST(DataLoading, AbstainsWithoutAnyFetch) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(data_loading()), "");
}

}  // namespace
}  // namespace fathom
