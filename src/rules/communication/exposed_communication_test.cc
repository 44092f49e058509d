#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/collectives.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule exposed_communication();

namespace {

constexpr std::string_view kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

/// A step of 1000 ns: a product until 600, an all-reduce of 300 ns from `start`, a product after
/// it.
void step(TraceBuilder& builder, std::int64_t start) {
  builder.step(0, 0, 1000);
  builder.runtime("cudaLaunchKernel", 1, 2, 1);
  builder.runtime("cudaLaunchKernel", 4, 2, 2);
  builder.runtime("cudaLaunchKernel", 7, 2, 3);
  builder.on_stream(7).kernel("gemm", 10, 590, 1);
  builder.on_stream(20).kernel(kReduce, start, 300, 2);
  builder.on_stream(7).kernel("gemm", 900, 100, 3);
}

TEST(ExposedCommunication, IsToldWhenNothingRunsBesideIt) {
  TraceBuilder builder;
  step(builder, 600);
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(exposed_communication());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::communication);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 300);
  EXPECT_EQ(findings[0].edits.hide.size(), 1U);
}

TEST(ExposedCommunication, IsNothingBesideComputing) {
  TraceBuilder builder;
  step(builder, 200);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(exposed_communication()).empty());
  EXPECT_EQ(judged.abstains(exposed_communication()), "");
}

TEST(ExposedCommunication, IsANoteFromFivePercentHoweverMuchIsHidden) {
  for (const auto& [start, findings] : {std::pair{360, 1U}, std::pair{340, 0U}}) {
    TraceBuilder builder;
    step(builder, start);  // Exposed: 60 or 40 of 1000 ns.
    const std::vector<Finding> found = JudgedTrace(builder).findings(exposed_communication());
    ASSERT_EQ(found.size(), findings);
    if (!found.empty()) {
      EXPECT_EQ(found[0].weight, Weight::note);
    }
  }
}

TEST(ExposedCommunication, PromisesNoMoreThanThereIsComputingToHideBehind) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.runtime("cudaLaunchKernel", 1, 2, 1);
  builder.runtime("cudaLaunchKernel", 4, 2, 2);
  builder.on_stream(7).kernel("gemm", 10, 100, 1);
  builder.on_stream(20).kernel(kReduce, 110, 890, 2);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(exposed_communication());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 100, 1);
}

TEST(ExposedCommunication, CountsTheMainThreadThatWaitsForAnotherThread) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::mm", 10, 390);
  builder.op("aten::mm", 900, 100);
  builder.on_thread(2).annotation("gloo:all_reduce", 300, 600);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(exposed_communication());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 500);
}

Fix fix_beside(std::string_view annotation, std::string_view kernel, bool training) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation(annotation, 0, 100);
  if (training) builder.annotation("Optimizer.step#SGD.step", 110, 10);
  builder.runtime("cudaLaunchKernel", 1, 2, 1);
  builder.on_stream(20).kernel(kernel, 10, 900, 1);
  return JudgedTrace(builder).findings(exposed_communication()).at(0).fix;
}

TEST(ExposedCommunication, AdvisesForTheFrameworkThatIsSeen) {
  constexpr std::string_view kGather = "ncclDevKernel_AllGather_RING_LL";
  constexpr std::string_view kExchange = "ncclDevKernel_SendRecv";
  const auto says = [](const Fix& fix, std::string_view word) {
    return (fix.text + fix.before + fix.after).find(word) != std::string::npos;
  };
  EXPECT_TRUE(says(fix_beside("DistributedDataParallel.forward", kReduce, true), "no_sync"));
  EXPECT_FALSE(says(fix_beside("DistributedDataParallel.forward", kReduce, false), "no_sync"));
  EXPECT_FALSE(says(fix_beside("forward", kReduce, true), "no_sync"));
  EXPECT_TRUE(says(fix_beside("FullyShardedDataParallel.forward", kGather, true), "FSDP"));
  EXPECT_FALSE(says(fix_beside("moe", kGather, false), "FSDP"));
  EXPECT_TRUE(says(fix_beside("torchrec", kExchange, true), "TorchRec"));
  EXPECT_FALSE(says(fix_beside("moe", kExchange, true), "TorchRec"));
  EXPECT_FALSE(says(fix_beside("forward", "ncclDevKernel_AllReduce", true), "broadcast"));
  EXPECT_TRUE(says(fix_beside("c10d::allreduce_", kReduce, false), "async_op"));
  const Fix spread = fix_beside("_c10d_functional::all_reduce", kReduce, false);
  EXPECT_TRUE(says(spread, "DTensor"));
  EXPECT_FALSE(says(spread, "async_op"));
  const Fix exchange = fix_beside("_c10d_functional::all_to_all_single", kExchange, false);
  EXPECT_TRUE(says(exchange, "experts"));
  EXPECT_FALSE(says(exchange, "_micro_pipeline_tp"));
}

TEST(ExposedCommunication, TellsTheKindOfAGenericKernelByWhoLaunchesIt) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation("nccl:all_reduce", 0, 100);
  builder.runtime("hipLaunchKernel", 1, 2, 1);
  builder.on_stream(20).kernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", 10, 900,
                               1);
  const auto findings = JudgedTrace(builder).findings(exposed_communication());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].evidence[0].text.find("all-reduce"), std::string::npos);
}

TEST(ExposedCommunication, IsToldFromFivePercent) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.runtime("cudaLaunchKernel", 1, 2, 1);
  builder.runtime("cudaLaunchKernel", 4, 2, 2);
  builder.on_stream(7).kernel("gemm", 10, 890, 1);
  builder.on_stream(20).kernel(kReduce, 600, 390, 2);
  EXPECT_EQ(JudgedTrace(builder).findings(exposed_communication()).size(), 1U) << "9 % of the step";
}

TEST(Collectives, AreToldByTheirNames) {
  EXPECT_EQ(collective_kind(kReduce), CollectiveKind::all_reduce);
  EXPECT_EQ(collective_kind("ncclKernel_SendRecv_RING_SIMPLE"), CollectiveKind::all_to_all);
  EXPECT_EQ(collective_kind("nccl:_all_gather_base"), CollectiveKind::all_gather);
  EXPECT_EQ(collective_kind("c10d::barrier"), CollectiveKind::other);
}

}  // namespace
}  // namespace fathom
