#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule data_loader_workers();

namespace {

constexpr std::string_view kSingle = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr std::string_view kWorkers =
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

/// A step of 1000 ns that begins with a fetch and runs a kernel for the rest.
void step(TraceBuilder& builder, std::int64_t at, std::string_view iterator, std::int64_t fetch) {
  builder.step(at / 1000, at, 1000);
  builder.annotation(iterator, at + 1, fetch);
  builder.op("aten::mm", at + fetch + 5, 20);
  builder.runtime("cudaLaunchKernel", at + fetch + 10, 5, at + 1);
  builder.kernel("gemm", at + fetch + 16, 984 - fetch, at + 1);
}

TEST(DataLoaderWorkers, AreMissedWhereBatchesAreMadeInTheTrainingProcess) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) step(builder, 1000 * i, kSingle, 400);
  const auto findings = JudgedTrace(builder).findings(data_loader_workers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "none");
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 0.75 * 3 * 400, 30)
      << "a quarter is left to data-loading";
  EXPECT_EQ(findings[0].edits.overlap.size(), 3U);
}

TEST(DataLoaderWorkers, AreTooFewWhereEachBatchIsWaitedFor) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) step(builder, 1000 * i, kWorkers, 400);
  const auto findings = JudgedTrace(builder).findings(data_loader_workers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "too-few");
}

TEST(DataLoaderWorkers, AreEnoughWhereOnlyTheFirstBatchIsWaitedFor) {
  TraceBuilder builder;
  step(builder, 0, kWorkers, 600);
  step(builder, 1000, kWorkers, 10);
  step(builder, 2000, kWorkers, 10);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(data_loader_workers()).empty());
  EXPECT_EQ(judged.abstains(data_loader_workers()), "");
}

TEST(DataLoaderWorkers, AreNotMissedWhereFetchingTakesNoTime) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) step(builder, 1000 * i, kSingle, 5);
  EXPECT_TRUE(JudgedTrace(builder).findings(data_loader_workers()).empty());
}

TEST(DataLoaderWorkers, AbstainWithoutADataLoader) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(data_loader_workers()), "");
}

}  // namespace
}  // namespace fathom
