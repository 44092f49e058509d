// Facts of the programs of two sides.
#include "measure/program_facts.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

using OfRuns = std::vector<FactOfRuns>;

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
  EXPECT_EQ(facts_of(runs, Side::base), (OfRuns{{"Python", {"3.11"}}}));
  EXPECT_EQ(facts_of(runs, Side::now),
            (OfRuns{{"Python", {"3.12"}}, {"seed of torch", {"1", "2"}}, {"threads", {"4"}}}));
  EXPECT_EQ(whole_facts(facts_of(runs, Side::now)),
            (Facts{{"Python", "3.12"}, {"seed of torch", "1, 2"}, {"threads", "4"}}));
}

OfRuns seeds(const std::vector<int>& values) {
  std::vector<BenchRun> runs;
  for (const int value : values)
    runs.push_back(run_with(Side::now, {{"seed", std::to_string(value)}}));
  return facts_of(runs, Side::now);
}

TEST(ProgramFacts, ThatAreOtherInManyRunsAreShownByTheirEndsAndComparedWhole) {
  const OfRuns nine = seeds({10, 9, 8, 7, 6, 5, 4, 3, 2});
  EXPECT_EQ(facts_text(nine), "seed 2 to 10 (9 values)");
  EXPECT_EQ(whole_facts(nine), (Facts{{"seed", "2, 3, 4, 5, 6, 7, 8, 9, 10"}}));
  EXPECT_EQ(facts_that_differ(nine, seeds({2, 3, 4, 5, 6, 7, 8, 9, 10})), "")
      << "in whichever order runs had them";
  EXPECT_EQ(facts_that_differ(nine, seeds({2, 3, 4, 7})),
            "seed 2 to 10 (9 values) → 2 to 7 (4 values)");
  EXPECT_EQ(facts_that_differ(seeds({1, 2, 3, 9}), seeds({1, 2, 4, 9})),
            "seed 1, 2, 3, 9 → 1, 2, 4, 9")
      << "what is not shown of many";
}

TEST(ProgramFacts, OfASweepAreThoseOfAllItsValues) {
  const std::vector<VariedPoint> points = {
      {.value = "4",
       .runs = {run_with(Side::now, {{"Python", "3.12"}, {"threads", "4"}}),
                run_with(Side::base, {{"Python", "3.11"}})}},
      {.value = "8", .runs = {run_with(Side::now, {{"Python", "3.12"}, {"threads", "8"}})}},
  };
  EXPECT_EQ(facts_of(points, Side::now), (OfRuns{{"Python", {"3.12"}}, {"threads", {"4", "8"}}}));
  EXPECT_EQ(facts_of(points, Side::base), (OfRuns{{"Python", {"3.11"}}}));
}

TEST(ProgramFacts, OfBothSidesAreSaidOnceWhereTheyAreTheSame) {
  const OfRuns facts = {{"threads", {"8"}}};
  EXPECT_EQ(programs_text({}, facts), "threads 8");
  EXPECT_EQ(programs_text(facts, facts), "threads 8");
  EXPECT_EQ(programs_text(facts, OfRuns{{"threads", {"4"}}}), "base: threads 8; new: threads 4");
  EXPECT_EQ(programs_text(OfRuns(), facts), "new: threads 8");
  EXPECT_EQ(programs_text(facts, {}), "threads 8");
}

TEST(ProgramFacts, ThatDifferAreNamedWithBothValues) {
  const OfRuns base = {{"Python", {"3.11"}}, {"PyTorch", {"2.6"}}, {"threads", {"8"}}};
  EXPECT_EQ(facts_that_differ(base, base), "");
  EXPECT_EQ(facts_that_differ(base, {{"Python", {"3.11"}}, {"PyTorch", {"2.7"}}, {"seed", {"1"}}}),
            "PyTorch 2.6 → 2.7; threads 8 → –; seed – → 1");
  EXPECT_EQ(facts_that_differ(base, {}), "") << "of a side that was not watched nothing is known";
}

TEST(ProgramFacts, AreOneLine) {
  EXPECT_EQ(facts_text({{"Python", {"3.11"}}, {"threads", {"8"}}}), "Python 3.11, threads 8");
  EXPECT_EQ(facts_text({}), "");
}

}  // namespace
}  // namespace fathom::measure
