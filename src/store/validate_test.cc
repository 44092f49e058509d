// Broken promises are noticed.
#include "store/validate.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

Trace small_trace() {
  TraceBuilder builder;
  builder.op("aten::mm", 100, 50).shapes("[[2,3]]");
  builder.kernel("gemm", 200, 30, 4).grid(8, 1, 1);
  return builder.build();
}

TEST(Validate, BuiltTracesKeepTheirPromises) { EXPECT_EQ(broken_promise(small_trace()), ""); }

TEST(Validate, NegativeDurationsAreNoticed) {
  Trace trace = small_trace();
  trace.slices.duration[1] = duration_ns(-1);
  EXPECT_EQ(broken_promise(trace), "a duration is negative (row 1)");
}

TEST(Validate, ColumnsOfDifferentLengthAreNoticed) {
  Trace trace = small_trace();
  trace.slices.name.push_back(StringId(0));
  EXPECT_EQ(broken_promise(trace), "slices: columns differ in length (row 3)");
}

TEST(Validate, DetailsOutOfRangeAreNoticed) {
  Trace trace = small_trace();
  trace.slices.detail[0] = 7;
  EXPECT_EQ(broken_promise(trace), "a slice's detail is no row of its table (row 0)");
}

TEST(Validate, WrongCountsAreNoticed) {
  Trace trace = small_trace();
  ++trace.tracks[0].slices;
  EXPECT_EQ(broken_promise(trace), "a track counts its slices wrongly (row 0)");
}

}  // namespace
}  // namespace fathom
