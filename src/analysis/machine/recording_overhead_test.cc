#include "analysis/machine/recording_overhead.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

Trace measured() {
  Trace trace;
  trace.facts = {{"overhead.unprofiled_median_ns", "10000000"},
                 {"overhead.unprofiled_steps", "8"},
                 {"overhead.noise", "0.05"},
                 {"overhead.profiled_median_ns", "12500000"},
                 {"overhead.profiled_steps", "3"},
                 {"overhead.ratio", "1.25"},
                 {"overhead.options.shapes.steps", "2"},
                 {"overhead.options.shapes.ratio", "1.25"},
                 {"overhead.options.plain.steps", "2"},
                 {"overhead.options.plain.ratio", "1.1"}};
  return trace;
}

TEST(RecordingOverhead, IsWhatTheRunMeasured) {
  const auto overhead = recording_overhead(measured());
  ASSERT_TRUE(overhead);
  EXPECT_EQ(overhead->unprofiled, duration_ns(10'000'000));
  EXPECT_EQ(overhead->profiled_steps, 3);
  EXPECT_DOUBLE_EQ(overhead->percent(), 20);
  EXPECT_FALSE(overhead->in_noise());
  ASSERT_EQ(overhead->options.size(), 2U);
  EXPECT_EQ(overhead->options[0].name, "plain");
  EXPECT_EQ(overhead->options[1].steps, 2);
}

TEST(RecordingOverhead, TheRatioIsThatOfTheTwoMedians) {
  Trace trace = measured();
  for (Fact& fact : trace.facts) {
    if (fact.key == "overhead.ratio") fact.value = "15.0817";
  }
  const RecordingOverhead overhead = *recording_overhead(trace);
  EXPECT_DOUBLE_EQ(overhead.ratio, 1.25);
  EXPECT_NE(overhead_sentence(overhead).find("1.250 times as long"), std::string::npos);
}

TEST(RecordingOverhead, SaysWhereItIsNoMoreThanTheNoise) {
  RecordingOverhead overhead = *recording_overhead(measured());
  EXPECT_EQ(overhead_sentence(overhead).find("no more than"), std::string::npos);
  overhead.noise = 0.5;
  EXPECT_NE(overhead_sentence(overhead).find("no more than"), std::string::npos);
  overhead.unprofiled_steps = 1;
  EXPECT_EQ(overhead_sentence(overhead).find("no more than"), std::string::npos);
  EXPECT_NE(overhead_sentence(overhead).find("one alone"), std::string::npos);
}

TEST(RecordingOverhead, IsUnknownWhereNothingWasMeasured) {
  Trace trace;
  EXPECT_FALSE(recording_overhead(trace));
  trace.facts = {{"overhead.ratio", "null"}};
  EXPECT_FALSE(recording_overhead(trace));
}

}  // namespace
}  // namespace fathom
