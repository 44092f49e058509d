// Values of a sweep of functions against the clocks at which they were measured.
#include "measure/function_metrics.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

/// So many calls of `ns`, all at that clock.
FunctionResult measured_at(double mhz, double ns, std::size_t count = 20) {
  FunctionResult result;
  for (std::size_t i = 0; i < count; ++i) {
    FunctionSample sample;
    sample.pair = i;
    sample.ns = ns + static_cast<double>(i);
    sample.clocks.sm_mhz = mhz;
    result.outcome.samples.push_back(sample);
    result.outcome.sampled.now.push_back(sample.ns);
  }
  return result;
}

std::string forbidden(const FunctionResult& best, const FunctionResult& here, Standing standing) {
  return clocks_forbid_standing({.result = &best, .costs = best.outcome.sampled.now},
                                {.result = &here, .costs = here.outcome.sampled.now}, standing,
                                0.05);
}

TEST(FunctionMetrics, WhatIsWorseOnlyByItsClockIsNotSaidToBeWorse) {
  const FunctionResult best = measured_at(2000, 1e6);
  const FunctionResult slow = measured_at(1000, 2e6);
  EXPECT_NE(forbidden(best, slow, Standing::worse).find("this value"), std::string::npos);
  EXPECT_EQ(forbidden(best, slow, Standing::cannot_tell), "") << "nothing was claimed";
}

TEST(FunctionMetrics, WhatCyclesSayTooStays) {
  EXPECT_EQ(forbidden(measured_at(2000, 1e6), measured_at(1900, 4e6), Standing::worse), "");
}

TEST(FunctionMetrics, EqualAndUnknownClocksForbidNothing) {
  EXPECT_EQ(forbidden(measured_at(2000, 1e6), measured_at(2000, 2e6), Standing::worse), "");
  FunctionResult unknown = measured_at(0, 2e6);
  for (FunctionSample& sample : unknown.outcome.samples) sample.clocks = {};
  EXPECT_EQ(forbidden(measured_at(2000, 1e6), unknown, Standing::worse), "");
}

}  // namespace
}  // namespace fathom::measure
