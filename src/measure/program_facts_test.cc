// Facts of the programs of two sides.
#include "measure/program_facts.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

BenchRun run_with(Side side, Facts facts) {
  BenchRun run;
  run.side = side;
  run.facts = std::move(facts);
  return run;
}

TEST(ProgramFacts, OfASideAreThoseOfItsRuns) {
  const std::vector<BenchRun> runs = {
      run_with(Side::base, {{"Python", "3.11"}}),
      run_with(Side::now, {{"Python", "3.12"}, {"seed of torch", "1"}}),
      run_with(Side::now, {{"seed of torch", "2"}, {"threads", "4"}}),
      run_with(Side::now, {}),
  };
  EXPECT_EQ(facts_of(runs, Side::base), (Facts{{"Python", "3.11"}}));
  EXPECT_EQ(facts_of(runs, Side::now),
            (Facts{{"Python", "3.12"}, {"seed of torch", "1, 2"}, {"threads", "4"}}));
}

TEST(ProgramFacts, ThatAreOtherInManyRunsAreNotAllNamed) {
  std::vector<BenchRun> runs;
  for (int i = 0; i < 9; ++i) runs.push_back(run_with(Side::now, {{"seed", std::to_string(i)}}));
  EXPECT_EQ(facts_of(runs, Side::now), (Facts{{"seed", "0, 1, 2, …"}}));
}

TEST(ProgramFacts, OfASweepAreThoseOfAllItsValues) {
  const std::vector<VariedPoint> points = {
      {.value = "4",
       .runs = {run_with(Side::now, {{"Python", "3.12"}, {"threads", "4"}}),
                run_with(Side::base, {{"Python", "3.11"}})}},
      {.value = "8", .runs = {run_with(Side::now, {{"Python", "3.12"}, {"threads", "8"}})}},
  };
  EXPECT_EQ(facts_of(points, Side::now), (Facts{{"Python", "3.12"}, {"threads", "4, 8"}}));
  EXPECT_EQ(facts_of(points, Side::base), (Facts{{"Python", "3.11"}}));
}

TEST(ProgramFacts, OfBothSidesAreSaidOnceWhereTheyAreTheSame) {
  const Facts facts = {{"threads", "8"}};
  EXPECT_EQ(programs_text({}, facts), "threads 8");
  EXPECT_EQ(programs_text(facts, facts), "threads 8");
  EXPECT_EQ(programs_text(facts, {{"threads", "4"}}), "base: threads 8; new: threads 4");
  EXPECT_EQ(programs_text(Facts(), facts), "new: threads 8");
  EXPECT_EQ(programs_text(facts, {}), "threads 8");
}

TEST(ProgramFacts, ThatDifferAreNamedWithBothValues) {
  const Facts base = {{"Python", "3.11"}, {"PyTorch", "2.6"}, {"threads", "8"}};
  EXPECT_EQ(facts_that_differ(base, base), "");
  EXPECT_EQ(facts_that_differ(base, {{"Python", "3.11"}, {"PyTorch", "2.7"}, {"seed", "1"}}),
            "PyTorch 2.6 → 2.7; threads 8 → –; seed – → 1");
  EXPECT_EQ(facts_that_differ(base, {}), "") << "of a side that was not watched nothing is known";
}

TEST(ProgramFacts, AreOneLine) {
  EXPECT_EQ(facts_text({{"Python", "3.11"}, {"threads", "8"}}), "Python 3.11, threads 8");
  EXPECT_EQ(facts_text({}), "");
}

}  // namespace
}  // namespace fathom::measure
