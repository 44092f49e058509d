#include "compare/ladder.h"

#include <gtest/gtest.h>

#include "compare/made_profile.h"

namespace fathom {
namespace {

/// Eight steps of so many ns, and a peak.
Runs variant(std::int64_t ns, std::int64_t peak, std::int64_t rank = kAbsent) {
  Profile profile = made_profile({made_row(forward_key("aten::mm", "[4]"), ns, 1)});
  profile.rank = rank;
  profile.counters = {{.id = "peak_allocated_bytes",
                       .title = "peak allocated bytes",
                       .unit = "bytes",
                       .value = peak,
                       .per_step = false}};
  return {{profile}};
}

TEST(Ladder, EachRungStandsBesideTheOneBeforeAndTheFirst) {
  // 120, 86, 45, 37 and 31 minutes: 1.40, 1.91, 1.22 and 1.19 times, 3.87 times in all.
  const std::vector<Runs> variants = {variant(120, 52), variant(86, 52), variant(45, 30),
                                      variant(37, 20), variant(31, 14)};
  const Result<Ladder> ladder = ladder_of(variants, std::nullopt);
  ASSERT_TRUE(ladder.ok()) << ladder.error().message;
  ASSERT_EQ(ladder->variants.size(), 5U);
  EXPECT_FALSE(ladder->variants[0].step);
  EXPECT_FALSE(ladder->variants[0].in_all);
  const double factors[] = {1.40, 1.91, 1.22, 1.19};
  std::int64_t change = 0;
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_NEAR(1 / ladder->variants[i].step->ratio, factors[i - 1], 0.005);
    change += ladder->variants[i].step->change_ns;
    EXPECT_EQ(ladder->variants[i].in_all->change_ns, change) << "steps add up to all";
  }
  EXPECT_NEAR(1 / ladder->variants[4].in_all->ratio, 3.87, 0.005);
  EXPECT_EQ(ladder->variants[0].peak_bytes, 52);
  EXPECT_EQ(ladder->variants[4].peak_bytes, 14);
}

TEST(Ladder, ProgressIsThatOfTheLast) {
  const std::vector<Runs> variants = {variant(1000, 1), variant(900, 1), variant(800, 1)};
  Target target = *parse_target("40%");
  target.within_runs = true;
  const Result<Ladder> ladder = ladder_of(variants, target);
  ASSERT_TRUE(ladder.ok());
  EXPECT_NEAR(*ladder->progress->way, 0.5, 1e-9);
  EXPECT_EQ(ladder->progress->reached, Reached::no);
  EXPECT_EQ(ladder->progress->reason, "");
}

TEST(Ladder, OneRunASideReachesNothingCertainly) {
  const std::vector<Runs> variants = {variant(1000, 1), variant(500, 1)};
  const Result<Ladder> ladder = ladder_of(variants, *parse_target("40%"));
  ASSERT_TRUE(ladder.ok());
  EXPECT_EQ(ladder->progress->reached, Reached::cannot_tell);
  EXPECT_NE(ladder->progress->reason.find("--within-runs"), std::string::npos);
  // A recording beside itself is known exactly.
  const std::vector<Runs> same = {variant(1000, 1), variant(1000, 1)};
  EXPECT_EQ(ladder_of(same, *parse_target("40%"))->progress->reached, Reached::no);
}

TEST(Ladder, OfRanksTheOneThatChangedMostIsShownOnEachRung) {
  const auto ranks = [](std::int64_t first, std::int64_t second) {
    fathom::Run run = variant(first, 1, 0).front();
    run.push_back(variant(second, 1, 1).front().front());
    return Runs{run};
  };
  const std::vector<Runs> variants = {ranks(100, 100), ranks(60, 99), ranks(59, 20)};
  const Result<Ladder> ladder = ladder_of(variants, std::nullopt);
  ASSERT_TRUE(ladder.ok());
  EXPECT_EQ(ladder->rank, 1);
  EXPECT_EQ(ladder->variants[1].step->change_ns, -1);
  EXPECT_EQ(ladder->variants[2].step->change_ns, -79);
}

TEST(Ladder, ARankThatOneRungLacksIsNamed) {
  const auto both = [] {
    fathom::Run run = variant(100, 1, 0).front();
    run.push_back(variant(90, 1, 1).front().front());
    return Runs{run};
  };
  const std::vector<Runs> variants = {both(), variant(80, 1, 0), variant(70, 1, 0)};
  const Result<Ladder> ladder = ladder_of(variants, std::nullopt);
  ASSERT_TRUE(ladder.ok());
  EXPECT_FALSE(ladder->notes.empty());
}

}  // namespace
}  // namespace fathom
