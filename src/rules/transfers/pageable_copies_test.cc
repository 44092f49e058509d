#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule pageable_copies();

namespace {

/// A step of 1000 ns: an upload of 200 ns, the wait for it, and 200 ns until the next kernel.
void upload(TraceBuilder& builder, MemoryKind source) {
  builder.step(0, 0, 1000);
  builder.op("aten::zero_", 0, 10);
  builder.runtime("cudaLaunchKernel", 2, 4, 1);
  builder.kernel("fill", 7, 93, 1);
  builder.op("aten::copy_", 90, 230);
  builder.runtime("cudaMemcpyAsync", 95, 10, 2);
  builder.copy(CopyKind::h2d, 100, 200, 2, 1 << 20).memory(source, MemoryKind::device);
  builder.runtime("cudaStreamSynchronize", 105, 205, 3);
  builder.op("aten::mm", 480, 30);
  builder.runtime("cudaLaunchKernel", 490, 5, 4);
  builder.kernel("gemm", 500, 500, 4);
}

TEST(PageableCopies, AreToldWithTheCopyAndTheIdleTimeBehindItsWait) {
  TraceBuilder builder;
  upload(builder, MemoryKind::pageable);
  const auto findings = JudgedTrace(builder).findings(pageable_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::transfer);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 400, 20);
  EXPECT_EQ(findings[0].edits.no_wait.size(), 2U);
}

TEST(PageableCopies, CountWhatTheDriverNeedsToStageThem) {
  TraceBuilder builder;
  builder.step(0, 0, 3000);
  for (std::int64_t i = 0; i < 5; ++i) add_launch(builder, "aten::mul", 40 * i, "mul", 20, 10 + i);
  builder.op("aten::copy_", 300, 1700);
  builder.runtime("cudaMemcpyAsync", 310, 1680, 2);
  builder.copy(CopyKind::h2d, 1000, 900, 2, 1 << 20)
      .memory(MemoryKind::pageable, MemoryKind::device);
  builder.op("aten::mm", 2010, 30);
  builder.runtime("cudaLaunchKernel", 2020, 5, 4);
  builder.kernel("gemm", 2030, 900, 4);
  const auto findings = JudgedTrace(builder).findings(pageable_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 1700, 60)
      << "all of the operator, 690 ns of which the driver copies before the copy begins";
}

TEST(PageableCopies, AreNothingWhereTheyWaitForWorkFromBeforeTheRecording) {
  TraceBuilder builder;
  builder.step(0, 0, 9'000'000);
  builder.op("aten::gather", 10, 30);
  builder.runtime("cudaLaunchKernel", 20, 5, 1);
  builder.kernel("gather", 6'000'000, 20, 1);
  builder.op("aten::copy_", 100, 6'000'100);
  builder.runtime("cudaMemcpyAsync", 110, 6'000'060, 2);
  builder.copy(CopyKind::h2d, 6'000'050, 10, 2, 64)
      .memory(MemoryKind::pageable, MemoryKind::device);
  builder.op("aten::mm", 6'000'300, 30);
  builder.runtime("cudaLaunchKernel", 6'000'310, 5, 4);
  builder.kernel("gemm", 6'000'320, 2'999'680, 4);
  const auto findings = JudgedTrace(builder).findings(pageable_copies());
  EXPECT_TRUE(findings.empty()) << findings[0].title;
}

TEST(PageableCopies, AreNothingWhenPinned) {
  TraceBuilder builder;
  upload(builder, MemoryKind::pinned);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(pageable_copies()).empty());
  EXPECT_EQ(judged.abstains(pageable_copies()), "");
}

TEST(PageableCopies, AreNothingBesideOtherWork) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::mm", 0, 10);
  builder.runtime("cudaLaunchKernel", 2, 4, 1);
  builder.kernel("gemm", 7, 993, 1);
  builder.on_stream(8);
  builder.op("aten::copy_", 100, 300);
  builder.runtime("cudaMemcpyAsync", 105, 280, 2);
  builder.copy(CopyKind::h2d, 110, 270, 2, 4096).memory(MemoryKind::pageable, MemoryKind::device);
  EXPECT_TRUE(JudgedTrace(builder).findings(pageable_copies()).empty());
}

TEST(PageableCopies, AbstainWhereTheKindOfMemoryWasNotRecorded) {
  TraceBuilder builder;
  upload(builder, MemoryKind::unknown);
  EXPECT_NE(JudgedTrace(builder).abstains(pageable_copies()), "");
}

TEST(PageableCopies, AbstainWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(pageable_copies()), "");
}

TEST(PageableCopies, ArePinnedByTheLoaderOnlyWhereThereIsOne) {
  const auto after = [](bool loader) {
    TraceBuilder builder;
    upload(builder, MemoryKind::pageable);
    if (loader) builder.annotation("enumerate(DataLoader)#_SingleProcess", 1, 2);
    return JudgedTrace(builder).findings(pageable_copies()).at(0).fix.after;
  };
  EXPECT_NE(after(true).find("DataLoader"), std::string::npos);
  EXPECT_EQ(after(false).find("DataLoader"), std::string::npos);
}

}  // namespace
}  // namespace fathom
