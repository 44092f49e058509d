#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule exposed_copies();

namespace {

/// A step of 1000 ns with a kernel in 0…400 and 700…1000, and a copy of 300 ns from `at` on.
void step_with_copy(TraceBuilder& builder, CopyKind kind, MemoryKind source, MemoryKind target,
                    std::int64_t at, std::string_view next = "cudaLaunchKernel") {
  builder.step(0, 0, 1000);
  builder.op("aten::mm", 0, 20);
  builder.runtime("cudaLaunchKernel", 2, 4, 1);
  builder.kernel("gemm", 0, 400, 1);
  builder.op("aten::copy_", 30, 20);
  builder.runtime("cudaMemcpyAsync", 35, 5, 2);
  builder.runtime(next, 60, 5, 3);
  builder.kernel("gemm", 700, 300, 3);
  builder.on_stream(8).copy(kind, at, 300, 2, 3000).memory(source, target);
}

TEST(ExposedCopies, AreThoseOfPinnedMemoryBesideWhichNoKernelRuns) {
  TraceBuilder builder;
  step_with_copy(builder, CopyKind::h2d, MemoryKind::pinned, MemoryKind::device, 300);
  const auto findings = JudgedTrace(builder).findings(exposed_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "pinned");
  EXPECT_EQ(to_ns(total(findings[0].claims)), 200);
  EXPECT_NE(findings[0].title.find("200 ns (20.0 % of the step)"), std::string::npos)
      << findings[0].title;
  EXPECT_EQ(findings[0].edits.hide.size(), 1U);
}

TEST(ExposedCopies, ThatTheHostWaitsForNoLongerMakeItWait) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::copy_", 10, 340);
  builder.runtime("cudaMemcpyAsync", 15, 5, 2);
  const SliceId wait = builder.runtime("cudaStreamSynchronize", 25, 320, 4);
  builder.copy(CopyKind::h2d, 30, 310, 2, 3000).memory(MemoryKind::pinned, MemoryKind::device);
  builder.op("aten::mm", 360, 20);
  builder.runtime("cudaLaunchKernel", 365, 5, 3);
  builder.kernel("gemm", 400, 500, 3);
  const auto findings = JudgedTrace(builder).findings(exposed_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].edits.no_wait, std::vector<SliceId>{wait});
}

TEST(ExposedCopies, OnTheDeviceAreAFindingOfTheirOwn) {
  TraceBuilder builder;
  step_with_copy(builder, CopyKind::d2d, MemoryKind::device, MemoryKind::device, 400);
  const auto findings = JudgedTrace(builder).findings(exposed_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "device");
  EXPECT_EQ(to_ns(total(findings[0].claims)), 300);
  EXPECT_EQ(findings[0].title.find("graphs"), std::string::npos);
}

TEST(ExposedCopies, BeforeTheLaunchOfAGraphFillItsInput) {
  TraceBuilder builder;
  step_with_copy(builder, CopyKind::d2d, MemoryKind::device, MemoryKind::device, 400,
                 "cudaGraphLaunch");
  const auto findings = JudgedTrace(builder).findings(exposed_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("buffers of CUDA graphs"), std::string::npos);
}

TEST(ExposedCopies, AreNothingBesideKernels) {
  TraceBuilder builder;
  step_with_copy(builder, CopyKind::h2d, MemoryKind::pinned, MemoryKind::device, 50);
  EXPECT_TRUE(JudgedTrace(builder).findings(exposed_copies()).empty());
}

TEST(ExposedCopies, AreNothingWhereThereIsNoComputingToHideThemBehind) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.runtime("cudaMemcpyAsync", 10, 5, 1);
  builder.copy(CopyKind::h2d, 100, 900, 1, 100).memory(MemoryKind::pinned, MemoryKind::device);
  EXPECT_TRUE(JudgedTrace(builder).findings(exposed_copies()).empty());
}

TEST(ExposedCopies, LeavePageableMemoryAndLayoutToTheirRules) {
  TraceBuilder builder;
  step_with_copy(builder, CopyKind::h2d, MemoryKind::pageable, MemoryKind::device, 400);
  EXPECT_TRUE(JudgedTrace(builder).findings(exposed_copies()).empty());
  TraceBuilder clone;
  clone.step(0, 0, 1000);
  clone.op("aten::clone", 0, 50);
  clone.op("aten::copy_", 5, 40);
  clone.runtime("cudaMemcpyAsync", 10, 5, 1);
  clone.copy(CopyKind::d2d, 100, 900, 1, 100).memory(MemoryKind::device, MemoryKind::device);
  EXPECT_TRUE(JudgedTrace(clone).findings(exposed_copies()).empty());
}

TEST(ExposedCopies, AbstainWithoutADeviceOrWhereMemoryIsOfUnknownKind) {
  TraceBuilder host;
  host.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(host).abstains(exposed_copies()), "");
  TraceBuilder unknown;
  step_with_copy(unknown, CopyKind::h2d, MemoryKind::unknown, MemoryKind::unknown, 400);
  EXPECT_NE(JudgedTrace(unknown).abstains(exposed_copies()), "");
}

}  // namespace
}  // namespace fathom
