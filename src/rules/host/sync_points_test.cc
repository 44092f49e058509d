#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule sync_points();

namespace {

/// A step in which a value is read while 400 ns of work are queued, and 300 ns pass before the next
/// kernel starts.
void reads_a_value(TraceBuilder& builder, std::int64_t at, std::int64_t id) {
  add_launch(builder, "aten::mm", at + 10, "gemm", 400, id);
  builder.op("aten::item", at + 40, 400);
  builder.op("aten::_local_scalar_dense", at + 41, 398);
  builder.runtime("cudaStreamSynchronize", at + 50, 380, id + 1);
  add_launch(builder, "aten::add", at + 710, "add", 270, id + 2);
}

TEST(SyncPoints, BlamesTheCallForTheIdleTimeBehindIt) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  reads_a_value(builder, 0, 1);
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(sync_points());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::sync);
  EXPECT_NE(findings[0].title.find(".item()"), std::string::npos);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 300, 15);
  EXPECT_EQ(findings[0].edits.no_wait.size(), 1U);
}

TEST(SyncPoints, NamesTheLineAndMakesOneFindingPerSite) {
  TraceBuilder builder;
  builder.step(0, 0, 2000);
  builder.frame("train.py(12): log", 0, 990);
  reads_a_value(builder, 0, 1);
  builder.frame("train.py(40): clip", 1000, 990);
  reads_a_value(builder, 1000, 11);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(sync_points());
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].evidence[0].location.substr(0, 9), "train.py:");
  EXPECT_NE(findings[0].key, findings[1].key);
}

TEST(SyncPoints, RecordedLinesAreCloserThanFrames) {
  TraceBuilder builder;
  builder.step(0, 0, 2000);
  builder.frame("train.py(12): log", 0, 1990);
  builder.line("/home/me/train.py:14 log", 0, 1000);
  builder.line("/home/me/train.py:15 log", 1000, 1000);
  reads_a_value(builder, 0, 1);
  reads_a_value(builder, 1000, 11);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(sync_points());
  ASSERT_EQ(findings.size(), 2U);
  std::vector<std::string> places;
  for (const Finding& finding : findings) {
    places.push_back(finding.evidence[0].location);
    EXPECT_NE(finding.title.find(" at " + places.back()), std::string::npos) << finding.title;
    EXPECT_EQ(finding.confidence, Confidence::high);
  }
  std::ranges::sort(places);
  EXPECT_EQ(places, (std::vector<std::string>{"/home/me/train.py:14", "/home/me/train.py:15"}));
}

TEST(SyncPoints, BlamesACallForNoMoreThanItWaited) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  add_launch(builder, "aten::mm", 10, "gemm", 20, 1);
  builder.runtime("cudaDeviceSynchronize", 60, 40, 2);
  add_launch(builder, "aten::add", 805, "add", 180, 3);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(sync_points());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_LE(to_ns(total(findings[0].claims)), 40);
}

TEST(SyncPoints, LeavesUploadsToTheRuleOfCopies) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::copy_", 10, 500);
  builder.runtime("cudaMemcpyAsync", 15, 300, 1);
  builder.copy(CopyKind::h2d, 20, 290, 1, 4096).memory(MemoryKind::pageable, MemoryKind::device);
  builder.runtime("cudaStreamSynchronize", 320, 180, 2);
  add_launch(builder, "aten::add", 705, "add", 280, 3);
  EXPECT_TRUE(JudgedTrace(builder).findings(sync_points()).empty());
}

TEST(SyncPoints, AreNoneWithoutWaitingCalls) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  add_launch(builder, "aten::mm", 10, "gemm", 900, 1);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(sync_points()).empty());
  EXPECT_EQ(judged.abstains(sync_points()), "");
}

TEST(SyncPoints, AbstainWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(sync_points()), "");
}

TEST(SyncPoints, AShortWaitDirectlyAfterALongOneDoesNotMaskIt) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  add_launch(builder, "aten::mm", 10, "gemm", 400, 1);
  builder.op("aten::item", 40, 410);
  builder.op("aten::_local_scalar_dense", 41, 408);
  const SliceId copy = builder.runtime("cudaMemcpyAsync", 50, 390, 2);
  builder.copy(CopyKind::d2h, 430, 5, 2, 4).memory(MemoryKind::device, MemoryKind::pageable);
  builder.runtime("cudaStreamSynchronize", 442, 4, 3);
  add_launch(builder, "aten::add", 710, "add", 270, 4);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(sync_points());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 290, 15);
  EXPECT_EQ(findings[0].edits.no_wait.size(), 2U);
  EXPECT_EQ(findings[0].edits.no_wait.front(), copy);
}

TEST(SyncPoints, CallWorkThatHasNotBegunNotBusy) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  add_launch(builder, "aten::mm", 10, "gemm", 100, 1);
  builder.runtime("cudaLaunchKernel", 30, 5, 2);
  builder.kernel("late", 300, 100, 2);  // launched, but 175 ns pass before it begins
  builder.runtime("cudaStreamSynchronize", 125, 280, 3);
  add_launch(builder, "aten::add", 705, "add", 280, 4);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(sync_points());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].counter_evidence.find("busy for 100 ns"), std::string::npos)
      << findings[0].counter_evidence;
}

TEST(SyncPoints, AreNoneBeforeTheFirstActivityAndAfterTheLast) {
  TraceBuilder builder;
  builder.step(0, 0, 2000);
  builder.runtime("cudaStreamSynchronize", 10, 400, 1);  // for work from before the recording
  add_launch(builder, "aten::mm", 700, "gemm", 300, 2);
  builder.runtime("cudaDeviceSynchronize", 730, 1200, 3);  // nothing follows
  EXPECT_TRUE(JudgedTrace(builder).findings(sync_points()).empty());
}

/// What is advised where this call waits inside of that operator ("" for none), before `next`.
Fix fix_of_wait(std::string_view op, std::string_view call, std::string_view next = "aten::add") {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.runtime(call.starts_with("cu") ? "cudaLaunchKernel" : "xpuLaunchKernel", 15, 5, 1);
  builder.kernel("gemm", 25, 400, 1);
  if (!op.empty()) builder.op(op, 40, 400);
  builder.runtime(call, 50, 380, 2);
  builder.op(next, 710, 20);
  builder.runtime(call.starts_with("cu") ? "cudaLaunchKernel" : "xpuLaunchKernel", 715, 5, 3);
  builder.kernel("add", 725, 270, 3);
  return JudgedTrace(builder).findings(sync_points()).at(0).fix;
}

TEST(SyncPoints, TellToRemoveOnlyASynchronisationThatTheProgramAsksFor) {
  EXPECT_EQ(fix_of_wait("", "cudaDeviceSynchronize").before, "torch.cuda.synchronize()");
  const Fix coalesce = fix_of_wait("aten::_coalesce", "cudaStreamSynchronize");
  EXPECT_EQ((coalesce.text + coalesce.before).find("torch.cuda"), std::string::npos);
  const Fix unique = fix_of_wait("aten::_unique2", "cudaStreamSynchronize");
  EXPECT_NE(unique.text.find("how large"), std::string::npos);
  const Fix other = fix_of_wait("", "xpuDeviceSynchronize");
  EXPECT_EQ((other.text + other.before + other.after).find("cuda"), std::string::npos);
}

TEST(SyncPoints, AServersOwnWaitForTokensIsOverlapped) {
  for (const std::string_view op : {"", "aten::to"}) {
    const Fix fix = fix_of_wait(op, "cudaEventSynchronize", "vllm::moe_forward");
    EXPECT_NE(fix.after.find("async_scheduling"), std::string::npos) << op;
  }
  const Fix asked = fix_of_wait("aten::item", "cudaStreamSynchronize", "vllm::moe_forward");
  EXPECT_EQ(asked.after.find("async_scheduling"), std::string::npos);
}

}  // namespace
}  // namespace fathom
