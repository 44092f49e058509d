#include "compare/comparison.h"

#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "compare/made_profile.h"

namespace fathom {
namespace {

/// The row of that operator.
const ComparedRow& row_of(const Comparison& comparison, std::string_view what) {
  for (const ComparedRow& row : comparison.rows)
    if (row.what == what) return row;
  ADD_FAILURE() << "no row " << what;
  static const ComparedRow none;
  return none;
}

/// Compares two recordings of one row each beside work that does not change.
Comparison compare_rows(const ProfileRow& base, const ProfileRow& now,
                        const std::function<void(Profile&, Profile&)>& change = {}) {
  const ProfileRow same = made_row(forward_key("aten::conv2d"), 1'000'000, 1);
  Profile a = made_profile({base, same});
  Profile b = made_profile({now, same});
  if (change) change(a, b);
  return compare_profiles(a, b);
}

WorkKey key_in(AnyBucket bucket, std::string op = "op") {
  return {.bucket = bucket, .op = std::move(op)};
}

Cause first_cause(const Comparison& comparison) {
  return comparison.causes.empty() ? Cause::none : comparison.causes.front().cause;
}

/// A time that changes from step to step around its mean.
ProfileRow noisy_row(const WorkKey& key, std::uint64_t seed, double factor) {
  std::mt19937_64 bits(seed);
  ProfileRow row = made_row(key, 0, 1);
  for (std::size_t step = 0; step < 8; ++step) {
    const auto time =
        static_cast<std::int64_t>(factor * static_cast<double>(90'000 + bits() % 20'000));
    row.work.by_batch.add(step, time);
    row.work.time_ns += time;
  }
  return row;
}

/// Every level sums exactly to the one above.
void expect_exact(const Comparison& comparison) {
  std::int64_t buckets = 0;
  for (const ComparedBucket& bucket : comparison.buckets) {
    buckets += bucket.part.change_ns;
    std::int64_t rows = 0;
    for (const std::size_t row : bucket.rows) {
      rows += comparison.rows[row].part.change_ns;
      const std::vector<ComparedKernel>& kernels = comparison.rows[row].kernels;
      std::int64_t sum = 0;
      for (const ComparedKernel& kernel : kernels) sum += kernel.part.change_ns;
      if (!kernels.empty()) {
        EXPECT_EQ(sum, comparison.rows[row].part.change_ns);
      }
    }
    if (!comparison.rows.empty()) {
      EXPECT_EQ(rows, bucket.part.change_ns);
    }
  }
  EXPECT_EQ(buckets, comparison.mean_change_ns);
  std::int64_t phases = 0;
  std::size_t rows_of_phases = 0;
  for (const ComparedPhase& phase : comparison.phases) {
    phases += phase.part.change_ns;
    std::int64_t modules = 0;
    for (const ComparedModule& module : phase.modules) {
      modules += module.part.change_ns;
      std::int64_t rows = 0;
      for (const std::size_t row : module.rows) rows += comparison.rows[row].part.change_ns;
      EXPECT_EQ(rows, module.part.change_ns);
      rows_of_phases += module.rows.size();
    }
    EXPECT_EQ(modules, phase.part.change_ns);
  }
  EXPECT_EQ(rows_of_phases, comparison.rows.size());
  if (!comparison.rows.empty()) {
    EXPECT_EQ(phases, comparison.mean_change_ns);
  }
  EXPECT_EQ(comparison.mean_change_ns + comparison.skew_ns, comparison.change_ns);
  if (comparison.causes.empty()) return;
  std::int64_t causes = 0;
  for (const CauseGroup& group : comparison.causes) causes += group.change_ns;
  EXPECT_EQ(causes, comparison.mean_change_ns);
}

TEST(Comparison, OfARecordingWithItselfIsZeroEverywhere) {
  const Profile one = made_profile({made_row(forward_key("mm"), 1001, 3)});
  const Comparison comparison = compare_profiles(one, one);
  EXPECT_EQ(comparison.comparability, Comparability::same_recording);
  EXPECT_EQ(comparison.change_ns, 0);
  EXPECT_TRUE(comparison.causes.empty());
  for (const ComparedRow& row : comparison.rows) EXPECT_EQ(row.part.change_ns, 0);
  expect_exact(comparison);
}

TEST(Comparison, OtherStepsOfOneRecordingAreNotTheSame) {
  const Profile base = made_profile({made_row(forward_key("aten::mm", "[4]"), 100, 1)});
  Profile now = made_profile({made_row(forward_key("aten::mm", "[4]"), 150, 1)});
  now.content = base.content;
  const Comparison comparison = compare_profiles(base, now);
  EXPECT_EQ(comparison.comparability, Comparability::comparable);
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_NE(comparison.notes[0].find("of which each has other steps"), std::string::npos);
}

TEST(Comparison, WithoutOperatorsNothingIsAligned) {
  const auto python = [](std::int64_t ns) {
    return made_profile({made_row({.bucket = AnyBucket(HostBucket::python)}, ns, 1)});
  };
  const Comparison comparison = compare_profiles(python(100), python(150));
  for (const double share : comparison.aligned) EXPECT_EQ(share, 0);
  EXPECT_EQ(comparison.base_aligned, 0);
}

TEST(Comparison, SaysWhereNoiseCannotBeTested) {
  const auto steps = [](std::int64_t ns, std::int64_t count) {
    return made_profile({made_row(forward_key("aten::mm", "[4]"), ns, 1, count)}, count);
  };
  EXPECT_TRUE(compare_profiles(steps(100, 4), steps(110, 4)).notes.empty());
  const Comparison few = compare_profiles(steps(100, 3), steps(110, 3));
  ASSERT_EQ(few.notes.size(), 1U);
  EXPECT_NE(few.notes[0].find("Too few steps to test any row for noise"), std::string::npos);
}

TEST(Comparison, SumsExactlyWhateverTheStepsAndTimes) {
  std::mt19937_64 bits(5);
  const std::vector<AnyBucket> buckets = {
      AnyBucket(HostBucket::forward), AnyBucket(HostBucket::backward),
      AnyBucket(HostBucket::python), AnyBucket(Bucket::compute), AnyBucket(Bucket::sync)};
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto make = [&] {
      const auto steps = static_cast<std::int64_t>(bits() % 13 + 1);
      std::vector<ProfileRow> rows;
      for (std::size_t i = 0; i < 12; ++i) {
        ProfileRow row = made_row({.bucket = buckets[bits() % 5],
                                   .phase = bits() % 2 == 0 ? "forward" : "backward",
                                   .module = "Net/" + std::to_string(bits() % 3),
                                   .op = "op" + std::to_string(i),
                                   .shapes = "[" + std::to_string(bits() % 3) + "]"},
                                  0, static_cast<std::int64_t>(bits() % 5), steps);
        for (std::size_t step = 0; step < static_cast<std::size_t>(steps); ++step) {
          const auto time = static_cast<std::int64_t>(bits() % 100'000);
          row.work.by_batch.add(step, time);
          row.work.time_ns += time;
        }
        KernelTime half{.name = "k" + std::to_string(bits() % 2), .work = row.work};
        row.kernels.push_back(half);
        rows.push_back(row);
      }
      return made_profile(rows, steps);
    };
    const Profile base = make();
    const Profile now = make();
    expect_exact(compare_profiles(base, now));
  }
}

TEST(Comparison, DividesAChangeIntoCallsAndTimePerCall) {
  // 10 calls of 100 ns become 4 of 150.
  const Comparison comparison = compare_rows(made_row(forward_key("aten::mm"), 1000, 10),
                                             made_row(forward_key("aten::mm"), 600, 4));
  const ComparedRow& row = row_of(comparison, "aten::mm");
  EXPECT_EQ(row.part.change_ns, -400);
  EXPECT_EQ(row.calls_change_ns, -750);  // 6 fewer at 125 ns
  EXPECT_EQ(row.time_change_ns, 350);    // 50 ns more at 7 calls
}

TEST(Comparison, DividesADeviceByPhaseAndModule) {
  const auto key = [](std::string phase, std::string module, std::string op) {
    return WorkKey{.bucket = AnyBucket(Bucket::compute),
                   .phase = std::move(phase),
                   .module = std::move(module),
                   .op = std::move(op)};
  };
  const auto profile = [&](std::int64_t forward, std::int64_t backward, std::int64_t idle) {
    return made_profile({made_row(key("forward", "Net_0", "mm"), forward, 1),
                         made_row(key("forward", "Net_0/Norm_0", "norm"), 10, 1),
                         made_row(key("backward", "", "mm"), backward, 1),
                         made_row(key_in(AnyBucket(Bucket::dispatch)), idle, 1)});
  };
  const Comparison comparison = compare_profiles(profile(100, 200, 50), profile(90, 140, 70));
  expect_exact(comparison);
  ASSERT_EQ(comparison.phases.size(), 3U);
  EXPECT_EQ(comparison.phases[0].phase, "backward");
  EXPECT_EQ(comparison.phases[0].part.change_ns, -60);
  EXPECT_EQ(comparison.phases[1].phase, "device idle");
  EXPECT_EQ(comparison.phases[1].part.change_ns, 20);
  EXPECT_EQ(comparison.phases[2].phase, "forward");
  ASSERT_EQ(comparison.phases[2].modules.size(), 2U);
  EXPECT_EQ(comparison.phases[2].modules[0].module, "Net_0");
  EXPECT_EQ(comparison.phases[2].modules[0].part.change_ns, -10);
}

TEST(Comparison, SaysWhichCallOfAStepChanged) {
  const Profile base =
      made_profile({made_calls(forward_key("mm", "[4]"), {10, 10, 10, 10, 10, 10, 10})});
  const Profile now =
      made_profile({made_calls(forward_key("mm", "[4]"), {10, 10, 90, 10, 10, 11, 10})});
  const Comparison compared = compare_profiles(base, now);
  ASSERT_EQ(compared.rows.size(), 1U);
  const ComparedRow& row = compared.rows.front();
  EXPECT_EQ(row.calls_in_step, 7U);
  ASSERT_EQ(row.occurrences.size(), 6U) << "five, and the rest";
  EXPECT_EQ(row.occurrences[0].number, 3U);
  EXPECT_EQ(row.occurrences[0].part.change_ns, 80);
  EXPECT_EQ(row.occurrences[1].number, 6U);
  EXPECT_EQ(row.occurrences.back().number, std::nullopt);
  EXPECT_EQ(row.occurrences.back().part.base_calls, 16);
  std::int64_t change = 0;
  std::int64_t time = 0;
  for (const ComparedOccurrence& each : row.occurrences) {
    change += each.part.change_ns;
    time += each.part.new_sum_ns;
  }
  EXPECT_EQ(change, row.part.change_ns);
  EXPECT_EQ(time, row.part.new_sum_ns);
  EXPECT_DOUBLE_EQ(compared.aligned_by_occurrence, 1);
}

TEST(Comparison, ACallThatOneSideLacksHasNoCounterpart) {
  const Profile base = made_profile({made_calls(forward_key("mm", "[4]"), {10, 10})});
  const Profile now = made_profile({made_calls(forward_key("mm", "[4]"), {10, 10, 60})});
  const Comparison compared = compare_profiles(base, now);
  ASSERT_EQ(compared.rows.front().occurrences.size(), 3U);
  EXPECT_EQ(compared.rows.front().occurrences[0].number, 3U);
  EXPECT_EQ(compared.rows.front().occurrences[0].part.base_calls, 0);
  EXPECT_DOUBLE_EQ(compared.aligned_by_occurrence, 0.4);
  EXPECT_DOUBLE_EQ(compared.aligned[0], 1) << "the operator has one all the same";
}

TEST(Comparison, WithoutKnownCallsNothingIsSaidOfThem) {
  const Profile base = made_profile({made_row(forward_key("mm", "[4]"), 20, 2)});
  const Profile now = made_profile({made_calls(forward_key("mm", "[4]"), {10, 60})});
  const Comparison compared = compare_profiles(base, now);
  EXPECT_TRUE(compared.rows.front().occurrences.empty());
  EXPECT_EQ(compared.aligned_by_occurrence, 0);
  ProfileRow row = made_calls(forward_key("mm"), {10, 60});
  ++row.work.time_ns;
  row.keep_whole_occurrences();
  EXPECT_TRUE(row.occurrences.empty()) << "they are not all of it";
}

TEST(Comparison, DividesTimePerCallIntoClockAndCycles) {
  // 1000 ns at 1500 MHz are 1500 cycles; 1250 ns at 1000 MHz are 1250.
  const Comparison comparison = compare_rows(
      made_row(key_in(AnyBucket(Bucket::compute), "k"), 1000, 1),
      made_row(key_in(AnyBucket(Bucket::compute), "k"), 1250, 1), [&](Profile& base, Profile& now) {
        base.clock_mhz = 1500;
        now.clock_mhz = 1000;
      });
  const ComparedRow& row = row_of(comparison, "k");
  EXPECT_EQ(row.time_change_ns, 250);
  EXPECT_EQ(row.clock_change_ns, 458);    // 1375 cycles at 1000 less at 1500 MHz
  EXPECT_EQ(row.cycles_change_ns, -208);  // 250 fewer at the mean of both
  EXPECT_EQ(*row.clock_change_ns + *row.cycles_change_ns, *row.time_change_ns);
  // A copy does not run at that clock.
  const Comparison copies =
      compare_rows(made_row(key_in(AnyBucket(Bucket::memcpy), "k"), 1000, 1),
                   made_row(key_in(AnyBucket(Bucket::memcpy), "k"), 1250, 1),
                   [&](Profile& base, Profile& now) { base.clock_mhz = now.clock_mhz = 1500; });
  EXPECT_FALSE(row_of(copies, "k").clock_change_ns);
}

TEST(Comparison, WithholdsWhatIsDifferentWork) {
  const Profile base = made_profile({made_row(forward_key("conv"), 1000, 1)});
  const Profile now = made_profile({made_row(forward_key("attention"), 900, 1)});
  const Comparison comparison = compare_profiles(base, now);
  EXPECT_EQ(comparison.comparability, Comparability::different_work);
  EXPECT_TRUE(comparison.rows.empty());
  EXPECT_TRUE(comparison.causes.empty());
  EXPECT_FALSE(comparison.buckets.empty());
  EXPECT_EQ(comparison.change_ns, -100);
  expect_exact(comparison);
}

TEST(Comparison, OfAlmostNothingButPythonIsNotWithheldForThePausesOfOneSide) {
  const ProfileRow python =
      made_row(key_in(AnyBucket(HostBucket::python), "Python in train"), 1000, 1);
  const auto with_pause = [&](std::int64_t time_ns) {
    return made_profile({python, made_row(forward_key("garbage collection"), time_ns, 1)});
  };
  const Profile alone = made_profile({python});
  EXPECT_EQ(compare_profiles(with_pause(90), alone).comparability, Comparability::comparable);
  EXPECT_EQ(compare_profiles(with_pause(500), alone).comparability, Comparability::different_work)
      << "a third of the time is work";
}

TEST(Comparison, TakesWorkThatWasAddedToTheSameWorkForComparable) {
  const ProfileRow same = made_row(forward_key("mm", "[4]"), 100, 1);
  const Profile base = made_profile({same, made_row(forward_key("randn", "[9]"), 9000, 1)});
  const Comparison comparison = compare_profiles(base, made_profile({same}));
  EXPECT_EQ(comparison.comparability, Comparability::comparable);
  EXPECT_EQ(first_cause(comparison), Cause::calls);
}

TEST(Comparison, OfADeviceWithAMainThreadGivesTheStepTimeAlone) {
  const Profile base = made_profile({made_row(forward_key("mm"), 1000, 1)});
  Profile now = made_profile({made_row(key_in(AnyBucket(Bucket::compute), "mm"), 100, 1)});
  now.on_device = true;
  const Comparison comparison = compare_profiles(base, now);
  EXPECT_EQ(comparison.comparability, Comparability::different_devices);
  EXPECT_TRUE(comparison.buckets.empty());
  EXPECT_EQ(comparison.change_ns, -900);
}

TEST(Comparison, GivesNoIntervalForFewStepsAndSaysWhy) {
  const Profile base = made_profile({made_row(forward_key("mm"), 1000, 1, 6)}, 6);
  const Profile now = made_profile({made_row(forward_key("mm"), 900, 1, 7)}, 7);
  const Comparison comparison = compare_profiles(base, now);
  EXPECT_FALSE(comparison.ratio_interval);
  EXPECT_NE(comparison.ratio_note.find("needs 7 steps a side"), std::string::npos);
}

/// Of so many steps each, one level after the other.
Profile with_levels(std::initializer_list<std::pair<int, std::int64_t>> levels) {
  std::mt19937_64 bits(1);
  ProfileRow row = made_row(forward_key("mm"), 0, 1);
  std::size_t step = 0;
  for (const auto& [steps, level] : levels) {
    for (int i = 0; i < steps; ++i) {
      const std::int64_t time = level + static_cast<std::int64_t>(bits() % 1000);
      row.work.by_batch.add(step++, time);
      row.work.time_ns += time;
    }
  }
  return made_profile({row}, static_cast<std::int64_t>(step));
}

TEST(Comparison, GivesNoIntervalWhereStepsWereNeverSteady) {
  const Profile base = with_levels({{40, 100'000}, {45, 140'000}, {15, 120'000}});
  const Profile now = with_levels({{60, 100'000}});
  const Comparison comparison = compare_profiles(base, now);
  EXPECT_TRUE(comparison.base.never_steady());
  EXPECT_GT(comparison.base.autocorrelation, 0.8);
  ASSERT_TRUE(comparison.now.warm_up);
  EXPECT_EQ(comparison.now.warm_up->kind, Steadiness::flat);
  EXPECT_FALSE(comparison.ratio_interval);
  EXPECT_NE(comparison.ratio_note.find("the times of base were never steady"), std::string::npos)
      << comparison.ratio_note;
  expect_exact(comparison);
}

TEST(Comparison, AWarmUpWithinARunIsToldAndLeavesTheInterval) {
  const Comparison comparison =
      compare_profiles(with_levels({{60, 100'000}}), with_levels({{12, 140'000}, {60, 100'000}}));
  ASSERT_TRUE(comparison.now.warm_up);
  EXPECT_EQ(comparison.now.warm_up->kind, Steadiness::warm);
  EXPECT_EQ(comparison.now.warm_up->after, 12U);
  EXPECT_TRUE(comparison.ratio_interval);
}

TEST(Comparison, ComparesCountersExactlyPerStep) {
  Profile base = made_profile({made_row(forward_key("mm"), 10, 1, 3)}, 3);
  Profile now = made_profile({made_row(forward_key("mm"), 10, 1, 5)}, 5);
  base.counters = {{.id = "launches", .title = "launches", .unit = "count", .value = 21},
                   {.id = "gone", .title = "gone", .unit = "count", .value = 1}};
  now.counters = {{.id = "launches", .title = "launches", .unit = "count", .value = 35}};
  const Comparison comparison = compare_profiles(base, now);
  EXPECT_TRUE(comparison.counters[0].equal);
  EXPECT_FALSE(comparison.counters[1].equal);
  EXPECT_FALSE(comparison.counters[1].now);
}

TEST(Comparison, NamesConditionsThatDifferOrThatOneSideLacks) {
  Profile base = made_profile({made_row(forward_key("mm"), 10, 1)});
  Profile now = base;
  base.conditions = {{"device", "device", "A100"}, {"batch", "batch", "8"}};
  now.conditions = {{"device", "device", "H100"}, {"batch", "batch", "8"}};
  const Comparison comparison = compare_profiles(base, now);
  ASSERT_EQ(comparison.differs.size(), 1U);
  EXPECT_EQ(comparison.differs[0].base, "A100");
  EXPECT_EQ(comparison.differs[0].now, "H100");
}

// The causes, one test each.

TEST(Cause, OfMoreCallsIsCalls) {
  const Comparison comparison = compare_rows(made_row(forward_key("aten::mm"), 1000, 10),
                                             made_row(forward_key("aten::mm"), 2000, 20));
  EXPECT_EQ(first_cause(comparison), Cause::calls);
  EXPECT_EQ(row_of(comparison, "aten::mm").detail, "10 → 20 per step");
}

TEST(Cause, OfAnOperatorThatOneSideLacksIsCalls) {
  const ProfileRow same = made_row(forward_key("aten::conv2d"), 1'000'000, 1);
  const Profile base = made_profile({same, made_row(forward_key("aten::zero_"), 500, 4)});
  const Profile now = made_profile({same});
  EXPECT_EQ(first_cause(compare_profiles(base, now)), Cause::calls);
}

TEST(Cause, OfTheLoadersBucketIsTheLoader) {
  for (const AnyBucket bucket : {AnyBucket(HostBucket::input), AnyBucket(Bucket::input)}) {
    EXPECT_EQ(first_cause(compare_rows(made_row(key_in(bucket), 5000, 1),
                                       made_row(key_in(bucket), 100, 1))),
              Cause::loader);
  }
}

TEST(Cause, OfCompilersIsRecompilation) {
  WorkKey key = key_in(AnyBucket(HostBucket::python));
  key.compiling = true;
  const ProfileRow same = made_row(forward_key("aten::conv2d"), 1'000'000, 1);
  EXPECT_EQ(first_cause(compare_profiles(made_profile({same, made_row(key, 900, 1)}),
                                         made_profile({same}))),
            Cause::recompilation);
}

TEST(Cause, OfWhatIsDoneOnceIsWarmUp) {
  const AnyBucket bucket(Bucket::warm_up);
  EXPECT_EQ(first_cause(
                compare_rows(made_row(key_in(bucket), 5000, 1), made_row(key_in(bucket), 100, 1))),
            Cause::warm_up);
}

TEST(Cause, OfIdleTimeBehindWaitsThatAreGoneIsSynchronization) {
  WorkKey key = key_in(AnyBucket(Bucket::dispatch), "after cudaStreamSynchronize");
  key.after_sync = true;
  const ProfileRow same = made_row(forward_key("aten::conv2d"), 1'000'000, 1);
  EXPECT_EQ(first_cause(compare_profiles(made_profile({same, made_row(key, 900, 2)}),
                                         made_profile({same}))),
            Cause::synchronization);
  // As many waits as before are none that were removed.
  EXPECT_NE(first_cause(compare_rows(made_row(key, 900, 2), made_row(key, 400, 2))),
            Cause::synchronization);
}

TEST(Cause, OfMoreCopiesIsCopies) {
  EXPECT_EQ(first_cause(compare_rows(made_row(forward_key("aten::copy_"), 100, 1),
                                     made_row(forward_key("aten::copy_"), 700, 7))),
            Cause::copies);
  const AnyBucket bucket(Bucket::memcpy);
  EXPECT_EQ(
      first_cause(compare_rows(made_row(key_in(bucket), 100, 1), made_row(key_in(bucket), 700, 7))),
      Cause::copies);
}

TEST(Cause, OfOtherOperatorsInThePlaceIsReplaced) {
  EXPECT_EQ(first_cause(compare_rows(made_row(forward_key("aten::tanh"), 900, 1),
                                     made_row(forward_key("aten::gelu"), 300, 1))),
            Cause::replaced);
}

TEST(Cause, OfOtherTypesIsShapeOrDtype) {
  const Comparison comparison =
      compare_rows(made_row(forward_key("aten::mm", "[2]", "[\"double\"]"), 900, 1),
                   made_row(forward_key("aten::mm", "[2]", "[\"float\"]"), 400, 1));
  EXPECT_EQ(first_cause(comparison), Cause::shape_or_dtype);
  EXPECT_EQ(row_of(comparison, "aten::mm").detail, "[\"double\"] → [\"float\"]");
}

TEST(Cause, IsNotShapesThatOneSideDidNotRecord) {
  EXPECT_NE(first_cause(compare_rows(made_row(forward_key("aten::mm", "[2]"), 900, 1),
                                     made_row(forward_key("aten::mm"), 400, 1))),
            Cause::shape_or_dtype);
}

TEST(Cause, OfAnotherKernelForTheOperatorIsTheKernel) {
  ProfileRow base = made_row(key_in(AnyBucket(Bucket::compute), "aten::mm"), 900, 1);
  ProfileRow now = made_row(key_in(AnyBucket(Bucket::compute), "aten::mm"), 400, 1);
  base.kernels = {{.name = "sgemm", .work = base.work}};
  now.kernels = {{.name = "hgemm", .work = now.work}};
  const Comparison comparison = compare_rows(base, now);
  EXPECT_EQ(first_cause(comparison), Cause::kernel);
  EXPECT_EQ(row_of(comparison, "aten::mm").detail, "sgemm → hgemm");
  expect_exact(comparison);
}

TEST(Cause, OfAsManyCollectivesIsTheirWait) {
  for (const AnyBucket bucket :
       {AnyBucket(HostBucket::communication), AnyBucket(Bucket::communication)}) {
    EXPECT_EQ(first_cause(
                  compare_rows(made_row(key_in(bucket), 900, 2), made_row(key_in(bucket), 300, 2))),
              Cause::collective_wait);
  }
}

TEST(Cause, OfTimesThatOverlapIsNoise) {
  const WorkKey key = forward_key("aten::mm");
  const Comparison comparison = compare_rows(noisy_row(key, 1, 1), noisy_row(key, 2, 1));
  ASSERT_NE(row_of(comparison, "aten::mm").part.change_ns, 0);
  EXPECT_EQ(first_cause(comparison), Cause::noise);
}

TEST(Cause, OfTimesThatLieApartIsTheirTimePerCall) {
  const WorkKey key = forward_key("aten::mm");
  EXPECT_EQ(first_cause(compare_rows(noisy_row(key, 1, 1), noisy_row(key, 2, 2))),
            Cause::time_per_call);
}

TEST(Cause, OfFewStepsIsNeverNoise) {
  const Profile base = made_profile({made_row(forward_key("mm"), 1000, 1, 3)}, 3);
  const Profile now = made_profile({made_row(forward_key("mm"), 1001, 1, 3)}, 3);
  EXPECT_EQ(first_cause(compare_profiles(base, now)), Cause::time_per_call);
}

TEST(Cause, IsTheClockWhereCyclesStayAndCyclesWhereTheyDoNot) {
  const auto with_clocks = [](double base_mhz, double new_mhz) {
    return compare_rows(made_row(key_in(AnyBucket(Bucket::compute), "k"), 1000, 1),
                        made_row(key_in(AnyBucket(Bucket::compute), "k"), 1250, 1),
                        [&](Profile& base, Profile& now) {
                          base.clock_mhz = base_mhz;
                          now.clock_mhz = new_mhz;
                        });
  };
  EXPECT_EQ(first_cause(with_clocks(1500, 1200)), Cause::clock);
  EXPECT_EQ(first_cause(with_clocks(1500, 1500)), Cause::cycles);
}

TEST(Cause, OfTimeWhoseLaunchWasNotRecordedIsThat) {
  const AnyBucket bucket(Bucket::host_unknown);
  EXPECT_EQ(
      first_cause(compare_rows(made_row(key_in(bucket), 900, 1), made_row(key_in(bucket), 300, 1))),
      Cause::launch_unknown);
}

/// As a recorder without runtime calls has it: its idle time has no causes.
TEST(Cause, OfIdleTimeIsNotRecordedWhereOneSideHasNoLaunches) {
  const ProfileRow same = made_row(key_in(AnyBucket(Bucket::compute), "sgemm"), 1'000'000, 1);
  const ProfileRow wait =
      made_row(key_in(AnyBucket(Bucket::sync), "after cudaStreamSynchronize"), 50'000, 1);
  const ProfileRow unknown = made_row(key_in(AnyBucket(Bucket::host_unknown), "gap"), 60'000, 1);
  const Profile base = made_profile({same, wait});
  Profile now = made_profile({same, unknown});
  EXPECT_EQ(row_of(compare_profiles(base, now), "after cudaStreamSynchronize").cause,
            Cause::synchronization)
      << "both recorded launches";
  now.launches_recorded = false;
  const Comparison idle = compare_profiles(base, now);
  EXPECT_EQ(row_of(idle, "after cudaStreamSynchronize").cause, Cause::not_recorded)
      << "not a synchronization that was removed";
  EXPECT_EQ(row_of(idle, "after cudaStreamSynchronize").detail, "launches on one side only");
  EXPECT_EQ(row_of(idle, "gap").cause, Cause::not_recorded);
}

TEST(Cause, OfAnOperatorIsNotRecordedWhereOneSideHasNone) {
  const ProfileRow same = made_row(key_in(AnyBucket(Bucket::compute), "sgemm"), 1'000'000, 1);
  const ProfileRow add = made_row(key_in(AnyBucket(Bucket::compute), "aten::add"), 50'000, 1);
  const Profile base = made_profile({same, add});
  Profile now = made_profile({same});
  EXPECT_EQ(row_of(compare_profiles(base, now), "aten::add").cause, Cause::calls)
      << "both recorded operators";
  now.operators_recorded = false;
  const Comparison compared = compare_profiles(base, now);
  const ComparedRow& lost = row_of(compared, "aten::add");
  EXPECT_EQ(lost.cause, Cause::not_recorded);
  EXPECT_EQ(lost.detail, "operators on one side only");
}

}  // namespace
}  // namespace fathom
