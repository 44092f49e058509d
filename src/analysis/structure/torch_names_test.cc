// Names as torch prints them.
#include "analysis/structure/torch_names.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

/// The canonical text of the slice.
std::string_view printed(const Trace& trace, const TorchNames& names, SliceId slice) {
  return names.text(names[trace.slices.name[slice.row()]].canonical);
}

TEST(TorchNames, AllStepsHaveOneName) {
  TraceBuilder builder;
  const SliceId one = builder.step(1, 0, 10);
  const SliceId two = builder.step(2, 10, 10);
  const Trace trace = builder.build();
  const TorchNames names(trace);
  EXPECT_EQ(printed(trace, names, one), "ProfilerStep*");
  EXPECT_EQ(names[trace.slices.name[0]].canonical, names[trace.slices.name[1]].canonical);
  EXPECT_EQ(printed(trace, names, two), "ProfilerStep*");
}

TEST(TorchNames, OverloadsAreCutOff) {
  TraceBuilder builder;
  const SliceId overload = builder.op("aten::add.Tensor", 0, 10);
  const SliceId plain = builder.op("aten::add", 20, 10);
  const SliceId only = builder.op("aten::mul.out", 40, 10);
  const Trace trace = builder.build();
  const TorchNames names(trace);
  EXPECT_EQ(printed(trace, names, overload), "aten::add");
  EXPECT_EQ(names[trace.slices.name[overload.row()]].canonical,
            names[trace.slices.name[plain.row()]].canonical);
  EXPECT_EQ(printed(trace, names, only), "aten::mul");
}

TEST(TorchNames, OtherDotsStay) {
  TraceBuilder builder;
  const SliceId method = builder.annotation("Optimizer.step#SGD.step", 0, 10);
  const SliceId nested = builder.op("a::b::c.d", 0, 10);
  const SliceId kernel = builder.kernel("x::y.z", 0, 10);
  const Trace trace = builder.build();
  const TorchNames names(trace);
  EXPECT_EQ(printed(trace, names, method), "Optimizer.step#SGD.step");
  EXPECT_EQ(printed(trace, names, nested), "a::b::c.d");
  EXPECT_EQ(printed(trace, names, kernel), "x::y.z");
}

TEST(TorchNames, UtilitiesAndAsynchronousEventsAreKnownByName) {
  TraceBuilder builder;
  builder.op("aten::is_leaf", 0, 1);
  builder.annotation("nccl:all_reduce", 0, 1);
  builder.op("aten::mm", 0, 1);
  const Trace trace = builder.build();
  const TorchNames names(trace);
  EXPECT_TRUE(names[trace.slices.name[0]].utility);
  EXPECT_TRUE(names[trace.slices.name[1]].asynchronous);
  EXPECT_EQ(names[trace.slices.name[2]].formula, FlopsFormula::mm);
  EXPECT_FALSE(names[trace.slices.name[2]].utility || names[trace.slices.name[2]].asynchronous);
}

}  // namespace
}  // namespace fathom
