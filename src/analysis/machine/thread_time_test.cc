// Python's share of a step is split by what the thread did.
#include "analysis/machine/thread_time.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

Trace measured() {
  Trace trace;
  trace.facts = {{"thread_time.other.steps", "10"},
                 {"thread_time.other.wall_ns", "1000"},
                 {"thread_time.other.cpu_ns", "600"},
                 {"thread_time.other.preempted_ns", "100"},
                 {"thread_time.waits", R"([["train.py:12 in load",7],["x.py:1 in y",2]])"}};
  return trace;
}

TEST(ThreadTime, WhatIsNeitherComputedNorPreemptedIsWaited) {
  const auto time = thread_time(measured());
  ASSERT_TRUE(time);
  EXPECT_EQ(time->computing, duration_ns(600));
  EXPECT_EQ(time->preempted, duration_ns(100));
  EXPECT_EQ(time->waiting, duration_ns(300));
  ASSERT_EQ(time->places.size(), 2U);
  EXPECT_EQ(time->places[0].looks, 7);
}

TEST(ThreadTime, PythonIsSplitWithThePlaceOfItsWaits) {
  EXPECT_EQ(python_split(*thread_time(measured()), 0.5),
            "computing 15.0 %, waiting 30.0 % (most often at train.py:12 in load), preempted "
            "5.0 %");
  // Never more than Python's own time.
  EXPECT_EQ(python_split(*thread_time(measured()), 0.2),
            "computing 0.0 %, waiting 20.0 % (most often at train.py:12 in load), preempted 0.0 %");
}

TEST(ThreadTime, WaitsForALoaderAreNoneOfPython) {
  Trace trace = measured();
  trace.facts.push_back({"thread_time.asleep", "30"});
  trace.facts.push_back({"thread_time.fetching", "20"});
  EXPECT_EQ(python_split(*thread_time(trace), 0.5),
            "computing 35.0 %, waiting 10.0 % (most often at train.py:12 in load), preempted "
            "5.0 %");
}

TEST(ThreadTime, WithoutTheKernelsCountPreemptedTimeIsWaited) {
  Trace trace = measured();
  trace.facts[3].value = "null";
  EXPECT_EQ(thread_time(trace)->waiting, duration_ns(400));
  EXPECT_EQ(python_split(*thread_time(trace), 0.5).find("preempted"), std::string::npos);
}

TEST(ThreadTime, OfAProgramWithoutStepsItIsOfItsMainThread) {
  Trace trace;
  trace.facts = {{"thread_time.main.wall_ns", "1000"},
                 {"thread_time.main.cpu_ns", "\"50\""},
                 {"thread_time.main.preempted_ns", "150"},
                 {"thread_time.waits", R"([["ask.py:4 in ask",9]])"}};
  ASSERT_TRUE(thread_time(trace));
  EXPECT_EQ(thread_time(trace)->steps, 0);
  EXPECT_EQ(whole_split(*thread_time(trace)),
            "computed 5.0 % of the time, waited 80.0 % (most often at ask.py:4 in ask), and was "
            "ready without a processor for 15.0 %");
  trace.facts[1].value = "900";
  EXPECT_EQ(whole_split(*thread_time(trace)),
            "computed 90.0 % of the time, waited 0.0 %, and was ready without a processor for "
            "10.0 %");
}

TEST(ThreadTime, IsUnknownWhereNothingWasMeasured) { EXPECT_FALSE(thread_time(Trace())); }

}  // namespace
}  // namespace fathom
