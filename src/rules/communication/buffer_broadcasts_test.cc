#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule buffer_broadcasts();

namespace {

/// A step of 1000 ns that broadcasts for 200 ns inside a range of that name.
void broadcast(TraceBuilder& builder, std::string_view range) {
  builder.step(0, 0, 1000);
  builder.annotation(range, 0, 100);
  builder.op("c10d::broadcast_", 10, 50);
  builder.runtime("cudaLaunchKernel", 20, 5, 1);
  builder.op("aten::mm", 70, 20);
  builder.runtime("cudaLaunchKernel", 72, 5, 2);
  builder.on_stream(20).kernel("ncclDevKernel_Broadcast_RING_LL", 100, 200, 1);
  builder.on_stream(7).kernel("gemm", 300, 700, 2);
}

TEST(BufferBroadcasts, AreThoseOfTheForwardPassOfDistributedDataParallel) {
  TraceBuilder builder;
  broadcast(builder, "DistributedDataParallel.forward");
  const auto findings = JudgedTrace(builder).findings(buffer_broadcasts());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].effort, Effort::flag);
  EXPECT_GE(to_ns(total(findings[0].claims)), 200);
  EXPECT_FALSE(findings[0].edits.empty());
}

TEST(BufferBroadcasts, CountWhatTheMainThreadSpendsThereWithoutADevice) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation("DistributedDataParallel.forward", 0, 900);
  builder.op("c10d::broadcast_", 100, 300);
  builder.op("aten::mm", 400, 600);
  const auto findings = JudgedTrace(builder).findings(buffer_broadcasts());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 300);
}

TEST(BufferBroadcasts, AreNothingWithoutBroadcasts) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation("DistributedDataParallel.forward", 0, 900);
  builder.op("c10d::allreduce_", 100, 300);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(buffer_broadcasts()).empty());
  EXPECT_EQ(judged.abstains(buffer_broadcasts()), "");
}

TEST(BufferBroadcasts, AbstainWhereNoRangeShowsWhoseTheyAre) {
  TraceBuilder builder;
  broadcast(builder, "forward");
  EXPECT_NE(JudgedTrace(builder).abstains(buffer_broadcasts()), "");
}

}  // namespace
}  // namespace fathom
