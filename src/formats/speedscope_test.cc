// Profiles of speedscope: sampled and evented, in several units, and damaged ones.
#include <string>

#include <gtest/gtest.h>

#include "formats/read_for_test.h"
#include "store/sample_weights.h"

namespace fathom {

Format chrome_json();
Format speedscope();

namespace {

std::string document(const std::string& profiles) {
  return R"({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [
      {"name": "main", "file": "app.py", "line": 3}, {"name": "work"}, {"name": "a;b"}]},
      "profiles": [)" +
         profiles + "]}";
}

std::string sampled(const std::string& unit, const std::string& samples,
                    const std::string& weights) {
  return R"({"type": "sampled", "name": "MainThread", "unit": ")" + unit +
         R"(", "startValue": 0, "endValue": 9, "samples": )" + samples + R"(, "weights": )" +
         weights + "}";
}

TEST(Speedscope, SamplesHaveTheTimeOfTheirUnit) {
  const Result<Trace> trace = read_as(
      speedscope(), document(sampled("milliseconds", "[[0, 1], [], [0, 2]]", "[1.5, 7, 2]")));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace), "main (app.py:3);work 1500000\nmain (app.py:3);a,b 2000000\n");
  EXPECT_EQ(to_ns(trace->stack_samples[1].time), 10'500'000);
  EXPECT_EQ(trace->text(trace->stack_samples[0].thread), "MainThread");
  EXPECT_EQ(weight_unit(*trace), "");
}

TEST(Speedscope, CountsAreNoTimes) {
  const Result<Trace> trace =
      read_as(speedscope(), document(sampled("none", "[[0], [1]]", "[3, 4]")));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(weight_unit(*trace), "samples");
  EXPECT_EQ(stacks_of(*trace), "main (app.py:3) 3\nwork 4\n");
}

TEST(Speedscope, EventsAreTimesBetweenThem) {
  const Result<Trace> trace = read_as(speedscope(), document(R"({"type": "evented", "name": "t",
      "unit": "microseconds", "startValue": 0, "endValue": 9, "events": [
      {"type": "O", "frame": 0, "at": 1}, {"type": "O", "frame": 1, "at": 2},
      {"type": "C", "frame": 1, "at": 5}, {"type": "C", "frame": 0, "at": 6},
      {"type": "O", "frame": 1, "at": 8}, {"type": "C", "frame": 1, "at": 9}]})"));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace),
            "main (app.py:3) 1000\nmain (app.py:3);work 3000\nmain (app.py:3) 1000\nwork 1000\n");
}

TEST(Speedscope, ProfilesInOtherUnitsOfTimeAreConvertedAndCountsLeftOut) {
  const Result<Trace> trace =
      read_as(speedscope(), document(sampled("seconds", "[[0]]", "[1]") + "," +
                                     sampled("nanoseconds", "[[1]]", "[7]") + "," +
                                     sampled("bytes", "[[1]]", "[7]")));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace), "main (app.py:3) 1000000000\nwork 7\n");
  EXPECT_EQ(trace->import[Repair::wrong_type].count, 1U);
}

TEST(Speedscope, WhatIsWrongIsCounted) {
  const Result<Trace> trace =
      read_as(speedscope(),
              document(sampled("seconds", "[[0], [9], [\"x\"], [0], [0]]", "[1, 1, 1, -1, \"x\"]") +
                       R"(, 7, {"type": "odd", "unit": "seconds"})"));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->stack_samples.size(), 1U);
  EXPECT_EQ(trace->import[Repair::wrong_type].count, 5U);
  EXPECT_EQ(trace->import[Repair::number_out_of_range].count, 1U);
  EXPECT_FALSE(read_as(speedscope(), document("").substr(0, 90)).ok());
  EXPECT_FALSE(read_as(speedscope(), document("")).ok());
}

TEST(Speedscope, IsKnownBeforeTracesOfEvents) {
  EXPECT_TRUE(sniffs(speedscope(), document("")));
  EXPECT_TRUE(sniffs(speedscope(), R"({"exporter": "x", "shared": {"frames": []}})"));
  EXPECT_FALSE(sniffs(speedscope(), R"({"traceEvents": [], "shared": {"frames": []}})"));
  EXPECT_FALSE(sniffs(speedscope(), R"(["speedscope.app/file-format-schema"])"));
}

}  // namespace
}  // namespace fathom
