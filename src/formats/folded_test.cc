// Folded stacks as several programs write them, and what only looks like them.
#include <string>

#include <gtest/gtest.h>

#include "formats/read_for_test.h"
#include "store/sample_weights.h"

namespace fathom {

Format folded();

namespace {

TEST(Folded, StacksWithPlacesAndWeights) {
  const Result<Trace> trace = read_as(folded(),
                                      "main (app.py:3);C.work (a dir/b (2).py:7) 12\n# "
                                      "note\n\nmain;<lambda> (x.py) 1.6\r\nmain 0.4\n");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace),
            "main (app.py:3);C.work (a dir/b (2).py:7) 12\nmain;<lambda> (x.py) 1\nmain 1\n");
  EXPECT_EQ(trace->text(trace->stack_frames[1].function), "C.work");
  EXPECT_EQ(trace->text(trace->stack_frames[1].file), "a dir/b (2).py");
  EXPECT_EQ(trace->import.total(), 0U);
  EXPECT_EQ(weight_unit(*trace), "weights");
  EXPECT_FALSE(waits_are_known(*trace));
}

TEST(Folded, LinesThatAreNoStacksAreCounted) {
  const Result<Trace> trace =
      read_as(folded(), "a;b 1\nnothing\n 5\na;b x\na;b -3\na;b nan\na;b 2");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace), "a;b 1\na;b 2\n");
  EXPECT_EQ(trace->import[Repair::malformed_event].count, 5U);
}

TEST(Folded, WeightsBeyondAllNumbersAreLeftOut) {
  const Result<Trace> trace = read_as(folded(), "a;b 1e300\na;b 2e18\na;b 2e18\n");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->stack_samples.size(), 1U);
  EXPECT_EQ(trace->import[Repair::number_out_of_range].count, 2U);
}

TEST(Folded, WithoutAStackItIsAnError) {
  EXPECT_FALSE(read_as(folded(), "a;b 0\n").ok());
  EXPECT_FALSE(read_as(folded(), "").ok());
}

TEST(Folded, ALineLongerThanAnyStackIsCounted) {
  const std::string stack(3'000'000, 'x');
  const Result<Trace> trace = read_as(folded(), "a;b 1\n" + stack + ";y 2\na;b 3\n");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace), "a;b 1\na;b 3\n");
  EXPECT_EQ(trace->import[Repair::malformed_event].count, 1U);
}

TEST(Folded, IsKnownByItsLines) {
  EXPECT_TRUE(sniffs(folded(), "main;work 3\n"));
  EXPECT_TRUE(sniffs(folded(), "# by x\nmain;work;<lambda> (a.py:1) 3.5\nidle 1\n"));
  EXPECT_TRUE(sniffs(folded(), std::string("a;b 1\n") + std::string(5000, 'x') + " 3\n"));
  EXPECT_TRUE(sniffs(folded(), "[unknown] (x.so);f 3\n"));
  for (const char* const other : {"", "\n\n", "main 3\n", "a;b;c\n1;2;3\n", "time;value 3\n4;5;x\n",
                                  "{\"a;b\": 3 }\n", "[1;2 3,\n4]\n", "int main() { return 0; }\n"})
    EXPECT_FALSE(sniffs(folded(), other)) << other;
}

}  // namespace
}  // namespace fathom
