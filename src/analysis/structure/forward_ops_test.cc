// Backward operators find their forward operator.
#include "analysis/structure/forward_ops.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

TEST(ForwardOps, OfOneSequenceNumberTheLastToStartMadeTheNode) {
  TraceBuilder builder;
  builder.op("aten::t", 10, 5).sequence(4);
  const SliceId made = builder.op("aten::addmm", 20, 5).sequence(4);
  const SliceId backward = builder.on_thread(2).op("AddmmBackward0", 100, 5).sequence(4, 1);
  const Trace trace = builder.build();
  EXPECT_EQ(ForwardOps(trace).of(backward), made);
}

TEST(ForwardOps, ThreadsAreToldApartByTheMajority) {
  TraceBuilder builder;
  for (const std::int64_t tid : {10, 20}) {
    builder.on_thread(tid);
    for (std::int64_t i = 0; i < 4; ++i) builder.op("aten::mm", 10 * i, 5).sequence(tid + i);
  }
  const SliceId same_number = builder.on_thread(10).op("aten::mul", 60, 5).sequence(20);
  builder.on_thread(30);
  for (std::int64_t i = 0; i < 4; ++i) builder.op("MmBackward0", 100 + i, 1).sequence(10 + i, 1);
  const SliceId backward = builder.op("MulBackward0", 200, 1).sequence(20, 1);
  const SliceId other = builder.op("MmBackward0", 300, 1).sequence(23, 2);
  const Trace trace = builder.build();
  const ForwardOps forward(trace);
  EXPECT_EQ(forward.of(backward), same_number);
  EXPECT_EQ(trace.track(forward.of(other)).tid, 20);
}

TEST(ForwardOps, WithoutASequenceNumberThereIsNone) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 5).sequence(4);
  const SliceId plain = builder.op("aten::mm", 10, 5);
  const SliceId unknown = builder.op("MmBackward0", 20, 5).sequence(99, 1);
  const Trace trace = builder.build();
  const ForwardOps forward(trace);
  EXPECT_FALSE(forward.of(plain).valid());
  EXPECT_FALSE(forward.of(unknown).valid());
}

}  // namespace
}  // namespace fathom
