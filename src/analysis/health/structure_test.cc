#include <gtest/gtest.h>

#include "analysis/health/health.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// What health says about two kernels that overlap on a stream of such a device.
CheckStatus overlap_on(const Device& properties) {
  TraceBuilder builder;
  builder.device(properties);
  builder.kernel("a", 0, 100, 1);
  builder.kernel("b", 90, 100, 2);
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Health health =
      compute_health({.trace = trace, .analyses = analyses, .selection = {}, .options = {}});
  return health.find("overlap_on_stream")->status;
}

TEST(HealthStructure, OverlapOnAStreamIsAWarningWhereDevicesDoNotOverlap) {
  EXPECT_EQ(overlap_on({.name = "NVIDIA A100", .compute_major = 8}), CheckStatus::warning);
  EXPECT_EQ(overlap_on({.name = "AMD Instinct MI300X", .compute_major = 9, .warp_size = 64}),
            CheckStatus::warning);
}

TEST(HealthStructure, OverlapOnAStreamIsANoteOnDevicesWithDependentLaunch) {
  EXPECT_EQ(overlap_on({.name = "NVIDIA B200", .compute_major = 10}), CheckStatus::note);
  EXPECT_EQ(overlap_on({.name = "NVIDIA H100", .compute_major = 9}), CheckStatus::note);
}

}  // namespace
}  // namespace fathom
