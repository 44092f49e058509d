#include "analysis/operators/peak_memory.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

PeakMemory peaks_of(const Trace& trace, Selection selection = {}) {
  const Analyses analyses(trace);
  return compute_peak_memory(
      {.trace = trace, .analyses = analyses, .selection = selection, .options = {}});
}

TEST(PeakMemory, IsTheLargestTotalOfEachDevice) {
  TraceBuilder builder;
  builder.op("aten::empty", 0, 100);
  builder.memory(10, 512, 1, 0, 1, 512, 2048);
  builder.memory(20, 512, 1, 0, 2, 1024, 2048);
  builder.memory(30, -512, 1, 0, 2, 512, 2048);
  builder.memory(40, 64, 1, 1, 3, 64);
  builder.memory(50, 4096, 0, -1, 4, 4096, 0);  // the host
  const Trace trace = builder.build();
  const PeakMemory memory = peaks_of(trace);
  ASSERT_EQ(memory.peaks.size(), 2U);
  EXPECT_EQ(memory.of(0)->allocated, 1024);
  EXPECT_EQ(memory.of(0)->reserved, 2048);
  EXPECT_EQ(memory.of(1)->allocated, 64);
  EXPECT_EQ(memory.of(1)->reserved, kAbsent);
  EXPECT_EQ(memory.of(2), nullptr);
}

TEST(PeakMemory, LooksAtTheSelectedTimeOnly) {
  TraceBuilder builder;
  builder.op("aten::empty", 0, 100);
  builder.memory(10, 512, 1, 0, 1, 5000);
  builder.memory(60, 512, 1, 0, 2, 300);
  const Trace trace = builder.build();
  EXPECT_EQ(
      peaks_of(trace, {.steps = {}, .device = {}, .window = Interval{time_ns(50), time_ns(100)}})
          .of(0)
          ->allocated,
      300);
}

}  // namespace
}  // namespace fathom
