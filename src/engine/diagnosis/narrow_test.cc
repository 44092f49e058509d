#include "engine/diagnosis/narrow.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

std::string narrower(TraceBuilder& builder, bool by_host) {
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Context context{.trace = trace, .analyses = analyses, .selection = {}, .options = {}};
  const std::vector<const Step*> steps = context.steps().counted();
  const auto& devices = context.timelines().devices;
  return narrower_name(context, steps, devices.empty() ? -1 : devices.front().device, by_host);
}

TraceBuilder two_operators() {
  TraceBuilder trace;
  trace.op("aten::linear", 0, 100);
  trace.runtime("cudaLaunchKernel", 10, 10, 1);
  trace.kernel("gemm", 30, 20, 1);
  trace.op("aten::relu", 100, 50);
  trace.runtime("cudaLaunchKernel", 110, 10, 2);
  trace.kernel("clamp", 130, 70, 2);
  return trace;
}

TEST(Narrower, IsTheOperatorWithMostTimeOnTheDevice) {
  TraceBuilder trace = two_operators();
  EXPECT_EQ(narrower(trace, false), "aten::relu");
}

TEST(Narrower, IsTheOperatorWithMostTimeOnTheHostWhereThatBounds) {
  TraceBuilder trace = two_operators();
  EXPECT_EQ(narrower(trace, true), "aten::linear");
}

TEST(Narrower, IsTheModuleWhereModulesWereRecorded) {
  TraceBuilder trace;
  trace.op("aten::add", 0, 50);
  trace.frame("nn.Module: Linear_0", 50, 100);
  trace.op("aten::linear", 60, 80);
  EXPECT_EQ(narrower(trace, false), "Linear_0");
}

TEST(Narrower, IsTheFirstInTheAlphabetOfThoseThatTakeTheSame) {
  TraceBuilder trace;
  trace.op("aten::relu", 0, 50);
  trace.op("aten::add", 50, 50);
  trace.op("aten::mul", 100, 50);
  EXPECT_EQ(narrower(trace, true), "aten::add");
}

TEST(Narrower, IsNoNameThatNobodyCopiesIntoACommand) {
  TraceBuilder trace;
  trace.op(std::string(1000, 'x'), 0, 60);
  trace.op("aten::add", 60, 40);
  EXPECT_EQ(narrower(trace, true), "aten::add");
}

TEST(Narrower, IsNothingWhereOneOperatorIsAll) {
  TraceBuilder trace;
  trace.op("aten::linear", 0, 100);
  EXPECT_EQ(narrower(trace, true), "");
}

}  // namespace
}  // namespace fathom
