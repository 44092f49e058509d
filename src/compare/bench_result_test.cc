#include "compare/bench_result.h"

#include <gtest/gtest.h>

#include "compare/comparison.h"

namespace fathom {
namespace {

std::string result_of(const std::vector<int>& times, std::string_view metric = "step") {
  std::string text =
      R"({"schema": "fathom.bench/1", "new": ["python", "train.py"], "headline": ")" +
      std::string(metric) + R"(", "conditions": {"cpu": "a", "governor": null}, )" +
      R"("runs": [{"side": "new", "warmup": true, "step_ns": 9999})";
  for (const int time : times)
    text += R"(, {"side": "new", "warmup": false, "wall_ns": 7, "step_ns": )" +
            std::to_string(time) + R"(}, {"side": "base", "warmup": false, "step_ns": 1})";
  return text + "]}";
}

TEST(BenchResult, HasTheRunsOfTheNewCommandWithoutTheWarmUp) {
  const Result<Profile> profile = parse_bench_result(result_of({30, 10, 20}));
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_TRUE(profile->times_only);
  EXPECT_EQ(profile->lengths_ns, (std::vector<std::int64_t>{30, 10, 20}));
  EXPECT_EQ(profile->step_name, "step");
  EXPECT_EQ(profile->conditions[0].value, "python train.py");
  EXPECT_EQ(parse_bench_result(result_of({30}, "wall"))->lengths_ns, std::vector<std::int64_t>{7});
}

TEST(BenchResult, ProcessorTimeIsThatOfBothModes) {
  const Result<Profile> profile = parse_bench_result(
      R"({"schema": "fathom.bench/1", "new": ["a"], "headline": "cpu", "conditions": {}, "runs": [)"
      R"({"side": "new", "warmup": false, "user_ns": 30, "system_ns": 4},)"
      R"({"side": "new", "warmup": false, "user_ns": 20}]})");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->lengths_ns, std::vector<std::int64_t>{34});
}

TEST(BenchResult, HasTheConditionsOfMachineAndProgram) {
  const auto with = [](const std::string& conditions, const std::string& said) {
    return *parse_bench_result(
        R"({"schema": "fathom.bench/1", "new": ["a"], "headline": "wall", "conditions": {)" +
        conditions + R"(}, "programs": {"base": null, "new": {)" + said +
        R"(}}, "runs": [{"side": "new", "warmup": false, "wall_ns": 7}]})");
  };
  const Profile base =
      with(R"("cores": 8, "cores_allowed": 8, "cgroup_cpus": 2, "load_at_start": [1.5, 9, 9],)"
           R"("gpus": [{"gpu": 0, "power_limit_w": 300}], "environment": {"OMP_NUM_THREADS": "4"})",
           R"("workers": "4")");
  const Profile now =
      with(R"("cores": 8, "cores_allowed": 8, "cgroup_cpus": null, "load_at_start": [6, 0, 0],)"
           R"("gpus": [{"gpu": 0, "power_limit_w": 250}, {"gpu": 1}], "environment": {})",
           R"("workers": "0")");
  std::string all;
  for (const ComparedCondition& each : differing_conditions(base.conditions, now.conditions))
    all += each.id + " " + each.base + ">" + each.now + "\n";
  EXPECT_EQ(all,
            "host.cgroup.cpus 2>\n"
            "power_limit 300 W>250 W\n"
            "load at most half of the cores>6 on 8 cores\n"
            "environment.OMP_NUM_THREADS 4>\n"
            "program.workers 4>0\n");
}

/// Of blocks of so many calls each.
Profile function_of(int calls, const std::vector<int>& blocks, const std::string& metric = "wall") {
  std::string text = R"({"schema": "fathom.bench/1", "new": ["f"], "headline": ")" + metric +
                     R"(", "conditions": {}, "function": {"calls": {"base": null, "new": )" +
                     std::to_string(calls) + R"(}}, "runs": [)";
  for (const int block : blocks)
    text += std::string(text.ends_with('[') ? "" : ", ") +
            R"({"side": "new", "warmup": false, "wall_ns": )" + std::to_string(block) + "}";
  return *parse_bench_result(text + "]}");
}

TEST(BenchResult, OfAFunctionIsPerCall) {
  const Profile base = function_of(1000, {20'400, 20'400, 20'500});
  const Profile now = function_of(2000, {40'800, 40'800, 40'900}, "events");
  EXPECT_EQ(base.lengths_ns, (std::vector<std::int64_t>{20, 20, 21}));
  const Comparison comparison = compare_profiles(base, now);
  EXPECT_DOUBLE_EQ(comparison.ratio, 1);
  // Less than 1 ns is not lost.
  EXPECT_NEAR(compare_profiles(base, function_of(1000, {20'808})).ratio, 1.02, 1e-9);
}

TEST(BenchResult, RunsOfZeroNsCountLikeOthers) {
  EXPECT_EQ(parse_bench_result(result_of({30, 0, 20}))->lengths_ns,
            (std::vector<std::int64_t>{30, 0, 20}));
  const Result<Profile> zeros = parse_bench_result(result_of({0, 0, 20}));
  ASSERT_FALSE(zeros.ok());
  EXPECT_NE(zeros.error().message.find("2 of its 3 runs took 0 ns"), std::string::npos);
}

TEST(BenchResult, RefusesWhatHasNoTimesOrAnotherVersion) {
  EXPECT_FALSE(parse_bench_result(result_of({})).ok());
  EXPECT_FALSE(parse_bench_result(result_of({1}, "peak-memory")).ok());
  EXPECT_FALSE(parse_bench_result(R"({"schema": "fathom.bench/9"})").ok());
  EXPECT_FALSE(parse_bench_result("{").ok());
  EXPECT_FALSE(parse_bench_result(R"({"schema": "fathom.bench/1", "headline": "step"})").ok());
}

TEST(BenchResult, ComparesTimesAndWithholdsTheRest) {
  const Profile base = *parse_bench_result(result_of({30, 31, 32, 33, 34, 35, 36}));
  const Profile now = *parse_bench_result(result_of({20, 21, 22, 23, 24, 25, 26}));
  const Comparison comparison = compare_profiles(base, now);
  EXPECT_EQ(comparison.comparability, Comparability::times_only);
  EXPECT_EQ(comparison.change_ns, -10);
  ASSERT_TRUE(comparison.ratio_interval);
  EXPECT_LT(comparison.ratio_interval->high, 1);
  EXPECT_NE(comparison.ratio_note.find("not taken in turns"), std::string::npos);
  EXPECT_TRUE(comparison.buckets.empty());
  EXPECT_TRUE(comparison.rows.empty());
  EXPECT_EQ(compare_profiles(base, base).comparability, Comparability::same_recording);
}

TEST(BenchResult, OfRunsThatWereNeverSteadyHasNoIntervalAndSaysWhy) {
  std::vector<int> unsteady;
  std::vector<int> flat;
  for (int run = 0; run < 100; ++run) {
    flat.push_back(1000 + run * 37 % 10);
    unsteady.push_back(flat.back() * (run < 40 ? 10 : run < 85 ? 14 : 12));
  }
  const Comparison comparison = compare_profiles(*parse_bench_result(result_of(flat)),
                                                 *parse_bench_result(result_of(unsteady)));
  EXPECT_FALSE(comparison.ratio_interval);
  EXPECT_TRUE(comparison.ratio_note.starts_with("No interval: the times of new were never steady"))
      << comparison.ratio_note;
}

}  // namespace
}  // namespace fathom
