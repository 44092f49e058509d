// Text of perf script with and without process ids, processors, periods and stacks.
#include <gtest/gtest.h>

#include "formats/read_for_test.h"
#include "store/sample_weights.h"

namespace fathom {

Format perf_script();

namespace {

constexpr std::string_view kClock =
    "# captured on: today\n"
    "my prog  12/13  [001]  7.000500:    2000000 cpu-clock:u: \n"
    "\t      55d1 py::Model.step:/a b/app.py (/tmp/perf-12.map)\n"
    "\t      55d0 _PyEval+0x1f (/usr/bin/python3 (deleted))\n"
    "\n"
    "my prog  12/14  7.25:    1000000 cpu-clock:u: \n"
    "\t      55d2 [unknown] ([unknown])\n"
    "\n";

TEST(PerfScript, PeriodsOfAClockAreTimes) {
  const Result<Trace> trace = read_as(perf_script(), kClock);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace),
            "_PyEval (/usr/bin/python3 (deleted));Model.step (/a b/app.py) 2000000\n"
            "[unknown] ([unknown]) 1000000\n");
  EXPECT_EQ(trace->stack_samples[0].pid, 12);
  EXPECT_EQ(trace->stack_samples[0].tid, 13);
  EXPECT_EQ(trace->text(trace->stack_samples[0].thread), "my prog");
  EXPECT_EQ(to_ns(trace->stack_samples[1].time), 7'250'000'000);
  EXPECT_EQ(trace->import.total(), 0U);
  EXPECT_EQ(weight_unit(*trace), "");
}

TEST(PerfScript, OtherEventsAreCounted) {
  const Result<Trace> trace =
      read_as(perf_script(),
              "            a     1 1.0:        100 cycles:ppp:  ffff main+0x1 (a)\n"
              "a 1 2.0: cycles:ppp: \n\t 1 f (a)\n\t 2 main (a)\n\n"
              "a 1 3.0: 5 faults: \n\t 1 f (a)\n"
              "a 1 99999999999.0: cycles: \n");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace), "main (a) 1\nmain (a);f (a) 1\n");
  EXPECT_EQ(weight_unit(*trace), "samples");
  EXPECT_EQ(trace->import.unknown().at("event faults"), 1U);
}

TEST(PerfScript, WhatIsNoSampleIsCounted) {
  const Result<Trace> trace =
      read_as(perf_script(), "a 1 1.0: cycles: \n\t 1 f (a)\n\nrubbish\na 1 2.0: cycles: \n");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace), "f (a) 1\n[unknown] 1\n");
  EXPECT_EQ(trace->import[Repair::malformed_event].count, 1U);
  EXPECT_FALSE(read_as(perf_script(), "").ok());
}

TEST(PerfScript, IsKnownByItsFirstLine) {
  EXPECT_TRUE(sniffs(perf_script(), kClock));
  for (const char* const other :
       {"", "# only\n", "2026-01-01 12:00:00.5: started: x\n", "a b 1.0: cycles: \n",
        "a 1 1.0 cycles: \n", "a 1 1.0: cycles\n", "main;work 3\n"})
    EXPECT_FALSE(sniffs(perf_script(), other)) << other;
}

}  // namespace
}  // namespace fathom
