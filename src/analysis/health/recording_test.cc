#include <gtest/gtest.h>

#include "analysis/health/health.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// What health says of half of the time spent in overhead of this name.
CheckStatus overhead_of(std::string_view name) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 1000);
  builder.slice(SliceKind::overhead, name, 100, 500);
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Health health =
      compute_health({.trace = trace, .analyses = analyses, .selection = {}, .options = {}});
  return health.find("profiler_overhead")->status;
}

TEST(HealthRecording, LoadingOfCodeIsNoOverheadOfTheProfiler) {
  EXPECT_EQ(overhead_of("Activity Buffer Request"), CheckStatus::bad);
  EXPECT_EQ(overhead_of("Runtime Triggered Module Loading"), CheckStatus::not_applicable);
}

}  // namespace
}  // namespace fathom
