#include "engine/diagnosis/focus.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

struct Recording {
  explicit Recording(TraceBuilder& builder) : trace(builder.build()), analyses(trace) {}
  [[nodiscard]] Result<std::vector<Step>> focus(std::string_view name) const {
    return focus_steps({.trace = trace, .analyses = analyses, .selection = {}, .options = {}},
                       name);
  }
  Trace trace;
  Analyses analyses;
};

TraceBuilder two_calls() {
  TraceBuilder trace;
  trace.annotation("forward", 0, 100);
  trace.runtime("cudaLaunchKernel", 50, 10, 1);
  trace.kernel("gemm", 80, 200, 1);
  trace.annotation("forward", 150, 100);
  trace.annotation("forward", 160, 20);
  trace.runtime("cudaLaunchKernel", 200, 10, 2);
  trace.kernel("gemm", 290, 50, 2);
  return trace;
}

TEST(Focus, MakesAStepOfEachOutermostCall) {
  TraceBuilder builder = two_calls();
  const auto steps = Recording(builder).focus("forward");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[0].window, (Interval{time_ns(0), time_ns(280)})) << "to the end of its kernel";
  EXPECT_EQ((*steps)[1].window, (Interval{time_ns(280), time_ns(340)})) << "windows do not overlap";
}

TEST(Focus, TakesModulesByTheirShortName) {
  TraceBuilder builder;
  builder.frame("nn.Module: Linear_0", 0, 100);
  const auto steps = Recording(builder).focus("Linear_0");
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->size(), 1U);
}

TEST(Focus, TakesAPhaseWhereNothingIsCalledThat) {
  TraceBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100);
  builder.annotation("Optimizer.zero_grad#SGD.zero_grad", 0, 10);
  builder.annotation("forward", 20, 30);
  builder.annotation("Optimizer.step#SGD.step", 60, 10);
  builder.annotation("Optimizer.step#SGD.step", 80, 10);
  const auto steps = Recording(builder).focus("optimizer");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 2U) << "the forward pass is between";
  EXPECT_EQ((*steps)[0].host, (Interval{time_ns(0), time_ns(10)}));
  EXPECT_EQ((*steps)[1].host, (Interval{time_ns(60), time_ns(90)}));
}

TEST(Focus, TakesAPartOfANameLast) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  builder.op("aten::add", 10, 10);
  const auto steps = Recording(builder).focus("::m");
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->size(), 1U);
}

TEST(Focus, TakesNoOperatorForAPhase) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::nll_loss_forward", 100, 50);
  const auto steps = Recording(builder).focus("forward");
  ASSERT_FALSE(steps);
  EXPECT_NE(steps.error().message.find("phase 'forward'"), std::string::npos);
}

TEST(Focus, SaysWhatWasMeantInsteadOfAnUnknownName) {
  TraceBuilder builder = two_calls();
  const auto steps = Recording(builder).focus("forwrad");
  ASSERT_FALSE(steps);
  EXPECT_NE(steps.error().message.find("forward"), std::string::npos);
}

}  // namespace
}  // namespace fathom
