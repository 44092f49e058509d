// Which operators count as computed again.
#include "analysis/structure/recomputation.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::string_view kShapes = "[[8,4],[4,4]]";

/// Names of the operators found, in order.
std::vector<std::string> found(TraceBuilder& builder) {
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  std::vector<std::string> names;
  for (const SliceId op : find_recomputation(trace, nesting).operators)
    names.emplace_back(trace.name(op));
  return names;
}
using Names = std::vector<std::string>;

void forward(TraceBuilder& builder) {
  builder.op("aten::linear", 0, 10).shapes(kShapes);
  builder.op("aten::addmm", 1, 5).shapes(kShapes);
  builder.op("aten::dropout", 20, 10).shapes("[[8,4]]");
}

TEST(Recomputation, IsWhatACheckpointsNodeRunsItself) {
  TraceBuilder builder;
  forward(builder);
  builder.on_thread(2);
  builder.op("autograd::engine::evaluate_function: CheckpointFunctionBackward", 100, 200);
  builder.op("CheckpointFunctionBackward", 101, 190);
  builder.op("aten::linear", 110, 20).shapes(kShapes);
  builder.op("aten::addmm", 112, 10).shapes(kShapes);
  builder.op("autograd::engine::evaluate_function: AddmmBackward0", 150, 100);
  builder.op("AddmmBackward0", 151, 90);
  builder.op("aten::mm", 160, 20);
  EXPECT_EQ(found(builder), Names({"aten::linear"})) << "the backward pass inside is none";
}

TEST(Recomputation, IsWhatANodeRepeatsOfTheForwardPass) {
  TraceBuilder builder;
  forward(builder);
  builder.op("aten::mul", 40, 5).shapes("[[8,4]]");
  builder.on_thread(2);
  builder.op("autograd::engine::evaluate_function: MulBackward0", 100, 200);
  builder.op("MulBackward0", 101, 190);
  builder.op("aten::linear", 110, 20).shapes(kShapes);
  builder.op("aten::dropout", 140, 10).shapes("[[8,4]]");
  builder.op("aten::mul", 200, 10).shapes("[[8,4]]");
  EXPECT_EQ(found(builder), Names({"aten::linear", "aten::dropout"}))
      << "the product is the derivative";
}

TEST(Recomputation, IsWhatRunsInTheFrameThatRecomputes) {
  TraceBuilder builder;
  builder.on_thread(2);
  builder.frame("torch/utils/checkpoint.py(1200): recompute_fn", 105, 50);
  builder.op("autograd::engine::evaluate_function: MulBackward0", 100, 200);
  builder.op("aten::matmul", 110, 20);
  builder.op("aten::mul", 200, 10);
  EXPECT_EQ(found(builder), Names({"aten::matmul"}));
}

TEST(Recomputation, IsNoOrdinaryBackwardPass) {
  TraceBuilder builder;
  forward(builder);
  builder.on_thread(2);
  builder.op("autograd::engine::evaluate_function: AddmmBackward0", 100, 100);
  builder.op("AddmmBackward0", 101, 90);
  builder.op("aten::addmm", 110, 20).shapes(kShapes).sequence(7);
  EXPECT_EQ(found(builder), Names());
}

TEST(Recomputation, NeedsTheSameShapes) {
  TraceBuilder builder;
  forward(builder);
  builder.op("autograd::engine::evaluate_function: OwnBackward", 100, 100);
  builder.op("OwnBackward", 101, 90);
  builder.op("aten::linear", 110, 20).shapes("[[2,2],[2,2]]");
  EXPECT_EQ(found(builder), Names());
}

}  // namespace
}  // namespace fathom
