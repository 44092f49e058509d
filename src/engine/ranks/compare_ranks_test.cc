#include "engine/ranks/compare_ranks.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A rank with two steps of `step` ms, each with one all-reduce of those ms, all of it exposed.
RankDiagnosis rank_with(std::int64_t rank, std::int64_t step, std::vector<std::int64_t> reduces) {
  RankDiagnosis one{.diagnosis = {}, .rank = {.number = rank, .world_size = 2}};
  one.diagnosis.input = "rank" + std::to_string(rank) + ".json";
  one.diagnosis.step_ns.count = reduces.size();
  one.diagnosis.step_ns.mean = static_cast<double>(step * kMs);
  one.diagnosis.usual_ns = one.diagnosis.step_ns;
  one.diagnosis.verdict = {.id = VerdictId::host_bound, .sentence = "Python.", .families = {}};
  RankCalls& calls = one.diagnosis.rank_calls;
  for (std::size_t i = 0; i < reduces.size(); ++i) {
    const Duration length = duration_ns(reduces[i] * kMs);
    calls.calls.push_back(
        {.step = static_cast<std::int64_t>(i), .key = 1, .length = length, .exposed = length});
    calls.exposed += length;
  }
  return one;
}

Diagnosis compared(std::vector<RankDiagnosis> recordings, std::optional<std::int64_t> rank = {}) {
  std::size_t at = 0;
  Result<Diagnosis> all = compare_ranks("folder", std::move(recordings), rank, at);
  EXPECT_TRUE(all) << all.error().message;
  return std::move(*all);
}

TEST(CompareRanks, TheRankOnWhichCollectivesAreShortestIsTheLateOne) {
  const Diagnosis all = compared({rank_with(0, 100, {61, 41}), rank_with(1, 100, {1, 1})});
  ASSERT_TRUE(all.ranks);
  ASSERT_TRUE(all.ranks->late);
  EXPECT_EQ(*all.ranks->late, 1U);
  EXPECT_EQ(all.ranks->diagnosed, 1U);
  EXPECT_EQ(all.ranks->rows[0].waited, duration_ns(50 * kMs));
  EXPECT_EQ(all.ranks->rows[0].communication, duration_ns(51 * kMs));
  EXPECT_EQ(all.ranks->rows[1].made_wait, duration_ns(50 * kMs));
  EXPECT_EQ(all.ranks->rows[1].last, 2U);
  EXPECT_DOUBLE_EQ(all.ranks->late_percent, 50.0);
  EXPECT_EQ(all.verdict.id, VerdictId::straggler);
  EXPECT_EQ(all.input, "folder");
  EXPECT_EQ(all.verdict.sentence,
            "Rank 1 comes last: others wait for it in collectives for 50.00 ms of each step "
            "(50.0 %). By itself it is host-bound: Python.");
}

TEST(CompareRanks, WaitingIsKnownForEachStepAndIsNoMoreThanTheStepCommunicates) {
  std::vector<RankDiagnosis> ranks = {rank_with(0, 100, {61, 41, 1}), rank_with(1, 100, {1, 1, 1})};
  const Diagnosis plain = compared(ranks);
  const std::vector<RankWait>& waits = plain.ranks->rows[0].waits;
  ASSERT_EQ(waits.size(), 2U);  // in the third nobody waits
  EXPECT_EQ(waits[0].step, 0);
  EXPECT_EQ(waits[0].waited, duration_ns(60 * kMs));
  EXPECT_EQ(waits[1].step, 1);
  EXPECT_EQ(waits[1].waited, duration_ns(40 * kMs));
  EXPECT_TRUE(plain.ranks->rows[1].waits.empty());

  Diagnosis& first = ranks[0].diagnosis;
  first.device = 0;
  for (const std::int64_t step : {0, 1}) {
    StepAccount account{.number = step};
    account.account.time[static_cast<std::size_t>(Bucket::communication)] = duration_ns(50 * kMs);
    first.steps.push_back(account);
  }
  const Diagnosis on_device = compared(std::move(ranks));
  EXPECT_EQ(on_device.ranks->rows[0].waits[0].waited, duration_ns(50 * kMs));
  EXPECT_EQ(on_device.ranks->rows[0].waits[1].waited, duration_ns(40 * kMs));
}

TEST(CompareRanks, NobodyWaitsForLongerThanItCommunicates) {
  std::vector<RankDiagnosis> ranks = {rank_with(0, 100, {61, 61}), rank_with(1, 100, {1, 1})};
  ranks[0].diagnosis.rank_calls.exposed = duration_ns(70 * kMs);  // Two buckets at the same time.
  const Diagnosis all = compared(std::move(ranks));
  EXPECT_EQ(all.ranks->rows[0].waited, duration_ns(35 * kMs));
  EXPECT_EQ(all.ranks->rows[1].made_wait, duration_ns(35 * kMs));
}

TEST(CompareRanks, WaitingThatIsHiddenDoesNotCount) {
  std::vector<RankDiagnosis> ranks = {rank_with(0, 100, {61, 41}), rank_with(1, 100, {1, 1})};
  ranks[0].diagnosis.rank_calls.calls[0].exposed = {};
  ranks[0].diagnosis.rank_calls.calls[1].exposed = {};
  ranks[0].diagnosis.rank_calls.exposed = {};
  const Diagnosis all = compared(std::move(ranks));
  EXPECT_FALSE(all.ranks->late);
  EXPECT_EQ(all.verdict.id, VerdictId::host_bound);
}

TEST(CompareRanks, WithoutALateRankTheOneWithTheLongestStepsIsDiagnosed) {
  const Diagnosis all = compared({rank_with(0, 120, {2, 2}), rank_with(1, 100, {2, 2})});
  EXPECT_FALSE(all.ranks->late);
  EXPECT_EQ(all.ranks->diagnosed, 0U);
  EXPECT_EQ(all.ranks->why, "its steps are longest");
}

TEST(CompareRanks, NoRankIsLateWhereWhoComesLastChanges) {
  const Diagnosis all = compared({rank_with(0, 100, {1, 31, 1}), rank_with(1, 100, {31, 1, 30}),
                                  rank_with(2, 100, {31, 31, 31}), rank_with(3, 100, {31, 31, 2})});
  EXPECT_EQ(all.ranks->compared, 3U);
  ASSERT_TRUE(all.ranks->late);  // Rank 0 made two of three wait.
  const Diagnosis even = compared({rank_with(0, 100, {1, 31, 31}), rank_with(1, 100, {31, 1, 31}),
                                   rank_with(2, 100, {31, 31, 1})});
  EXPECT_FALSE(even.ranks->late);
}

TEST(CompareRanks, ARankThatIsAskedForIsDiagnosed) {
  const Diagnosis all = compared({rank_with(0, 100, {61, 41}), rank_with(1, 100, {1, 1})}, 0);
  EXPECT_EQ(all.ranks->diagnosed, 0U);
  EXPECT_EQ(*all.ranks->late, 1U);
  std::size_t at = 0;
  const Result<Diagnosis> none =
      compare_ranks("folder", {rank_with(0, 1, {1}), rank_with(1, 1, {1})}, 7, at);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "there is no rank 7; there is rank 0, rank 1");
}

TEST(CompareRanks, RowsAreInTheOrderOfRanksAndThePlaceIsThatOfTheInput) {
  std::size_t at = 0;
  const Result<Diagnosis> all = compare_ranks(
      "folder", {rank_with(1, 100, {1, 1}), rank_with(0, 100, {61, 41})}, std::nullopt, at);
  ASSERT_TRUE(all);
  EXPECT_EQ(*all->ranks->rows[0].rank, 0);
  EXPECT_EQ(all->ranks->diagnosed, 1U);
  EXPECT_EQ(at, 0U);
}

TEST(CompareRanks, CallsThatAnotherRankHasNotAsOftenAreNotCompared) {
  std::vector<RankDiagnosis> ranks = {rank_with(0, 100, {61, 41}), rank_with(1, 100, {1, 1})};
  ranks[0].diagnosis.rank_calls.calls[1].step = 7;
  const Diagnosis all = compared(std::move(ranks));
  EXPECT_EQ(all.ranks->compared, 1U);
  EXPECT_EQ(all.ranks->not_compared, 2U);
}

TEST(CompareRanks, TwoRecordingsOfOneRankAreNotCompared) {
  const Diagnosis all = compared({rank_with(0, 100, {61, 41}), rank_with(0, 100, {1, 1})});
  EXPECT_EQ(all.ranks->compared, 0U);
  EXPECT_FALSE(all.ranks->late);
}

}  // namespace
}  // namespace fathom
