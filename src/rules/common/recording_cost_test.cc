#include "rules/common/recording_cost.h"

#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {
namespace {

TEST(RecordingCost, IsPerEventOfTheMainThread) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  builder.op("aten::mm", 100, 10'000);
  builder.op("aten::add", 20'000, 10'000);
  const JudgedTrace judged(builder);
  EXPECT_EQ(recording_cost(judged.rules()), duration_ns(1800)) << "the step's mark counts, too";
}

TEST(RecordingCost, IsUnknownWithADevice) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  builder.op("aten::mm", 100, 10'000);
  builder.runtime("cudaLaunchKernel", 200, 10, 1);
  builder.kernel("gemm", 300, 10, 1);
  EXPECT_LT(recording_cost(JudgedTrace(builder).rules()), Duration{});
}

TEST(RecordingCost, OfARemovedOperatorGoesWithIt) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  const TraceBuilder::Event gone = builder.op("aten::mm", 100, 10'000);
  Edits edits;
  edits.scale.emplace_back(gone.id(), 0.25F);
  EXPECT_EQ(removed_recording_cost(JudgedTrace(builder).rules(), edits), duration_ns(450));
}

}  // namespace
}  // namespace fathom
