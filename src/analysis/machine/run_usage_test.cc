// What a run used: of the tree, of its ranks, of GPUs; energy of the run and of its steps.
#include "analysis/machine/run_usage.h"

#include <csignal>
#include <memory>

#include <gtest/gtest.h>

#include "analysis/context.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// A trace with the samples of one counter per process, and its processes.
class Recorded {
 public:
  Recorded& process(std::int64_t pid, std::int64_t parent, std::int64_t cpu_ns, std::int64_t peak,
                    std::int32_t rank = -1) {
    runs_.push_back({.pid = pid,
                     .parent = parent,
                     .rank = rank,
                     .start_ns = 0,
                     .end_ns = 10 * kSecond,
                     .wall_ns = 10 * kSecond,
                     .user_ns = cpu_ns,
                     .system_ns = 0,
                     .peak_bytes = peak,
                     .read_bytes = 100,
                     .written_bytes = 10});
    return *this;
  }
  Recorded& samples(std::string_view name, std::vector<std::pair<std::int64_t, double>> values,
                    std::int64_t pid = 0, std::int32_t device = -1) {
    counters_.push_back({name, std::move(values), pid, device});
    return *this;
  }
  RunUsage usage() {
    TraceBuilder builder;
    builder.on_thread(1, 1);
    for (std::size_t step = 0; step < steps_; ++step)
      builder.step(static_cast<std::int64_t>(step), static_cast<std::int64_t>(step) * kSecond,
                   kSecond);
    trace_ = builder.build();
    trace_.process_runs = runs_;
    for (const Counter& counter : counters_) add(counter);
    analyses_ = std::make_unique<Analyses>(trace_);
    return run_usage(trace_, analyses_->telemetry(), analyses_->steps());
  }
  Recorded& steps(std::size_t count) {
    steps_ = count;
    return *this;
  }

 private:
  struct Counter {
    std::string_view name;
    std::vector<std::pair<std::int64_t, double>> values;
    std::int64_t pid;
    std::int32_t device;
  };
  void add(const Counter& counter) {
    Track track;
    track.kind = TrackKind::counter;
    track.process = trace_.strings.intern(std::to_string(counter.pid));
    track.thread = trace_.strings.intern(counter.name);
    track.name = track.thread;
    track.pid = counter.pid == 0 ? kAbsent : counter.pid;
    track.device = counter.device;
    const TrackId id(trace_.tracks.size());
    trace_.tracks.push_back(track);
    for (const auto& [time, value] : counter.values) {
      trace_.samples.track.push_back(id);
      trace_.samples.time.push_back(time_ns(time));
      trace_.samples.value.push_back(value);
    }
  }

  std::vector<ProcessRun> runs_;
  std::vector<Counter> counters_;
  std::size_t steps_ = 0;
  Trace trace_;
  std::unique_ptr<Analyses> analyses_;
};

TEST(RunUsage, ProcessorTimeOfChildrenThatWereWaitedForCountsOnce) {
  Recorded run;
  run.process(1, 0, 8 * kSecond, 50).process(2, 1, 5 * kSecond, 70);
  const RunUsage usage = run.usage();
  ASSERT_TRUE(usage.main);
  EXPECT_EQ(usage.main->pid, 1);
  EXPECT_EQ(usage.tree.processes, 2U);
  EXPECT_EQ(usage.tree.cpu, duration_ns(8 * kSecond));
  EXPECT_EQ(usage.tree.cores(), 0.8);
  EXPECT_EQ(usage.tree.read_bytes, 100.0);
}

TEST(RunUsage, ProcessorTimeThatNobodyWaitedForIsSeenByTelemetry) {
  Recorded run;
  run.process(1, 0, kSecond, 50).process(2, 1, 5 * kSecond, 70);
  run.samples("process.cpu_user", {{kSecond, 0.5}, {9 * kSecond, 1.0}}, 1);
  run.samples("process.cpu_user", {{kSecond, 0.5}, {9 * kSecond, 5.0}}, 2);
  EXPECT_EQ(run.usage().tree.cpu, duration_ns(6 * kSecond));
}

TEST(RunUsage, MemoryOfTheTreeIsItsHighestSumAtAMoment) {
  Recorded run;
  run.process(1, 0, 0, 50).process(2, 1, 0, 70);
  run.samples("process.memory", {{0, 10}, {2 * kSecond, 60}, {4 * kSecond, 20}}, 1);
  run.samples("process.memory", {{3 * kSecond, 30}, {5 * kSecond, 60}}, 2);
  EXPECT_EQ(run.usage().tree.memory_peak, 90.0);
}

TEST(RunUsage, APeakBetweenTwoSamplesCounts) {
  Recorded run;
  run.process(1, 0, 0, 500).samples("process.memory", {{0, 10}, {kSecond, 60}}, 1);
  EXPECT_EQ(run.usage().tree.memory_peak, 500.0);
}

TEST(RunUsage, TheContainersLimitIsPreferredToTheMachines) {
  Recorded run;
  run.process(1, 0, 0, 5)
      .samples("memory.total", {{0, 1000}})
      .samples("cgroup.memory_limit", {{0, 200}});
  const RunUsage usage = run.usage();
  EXPECT_EQ(usage.memory_limit, 200.0);
  EXPECT_TRUE(usage.limited_by_group);
}

TEST(RunUsage, RanksHaveTheirChildrenAndNoOthers) {
  Recorded run;
  run.process(1, 0, 0, 5);
  run.process(2, 1, 2 * kSecond, 20, 0).process(3, 1, 4 * kSecond, 30, 1);
  run.process(4, 3, 0, 80, 1);
  const RunUsage usage = run.usage();
  ASSERT_EQ(usage.ranks.size(), 2U);
  EXPECT_EQ(usage.ranks[0].usage.processes, 1U);
  EXPECT_EQ(usage.ranks[1].pid, 3);
  EXPECT_EQ(usage.ranks[1].usage.processes, 2U);
  EXPECT_EQ(usage.ranks[1].usage.cores(), 0.4);
  EXPECT_EQ(usage.ranks[1].usage.memory_peak, 80.0);
}

TEST(RunUsage, OneRankIsNoneOfSeveral) {
  Recorded run;
  run.process(1, 0, 0, 5, 0);
  EXPECT_TRUE(run.usage().ranks.empty());
}

TEST(RunUsage, AGpuIsToldByItsMeansAndItsPeak) {
  Recorded run;
  run.process(1, 0, 0, 5);
  run.samples("gpu.utilization", {{0, 0}, {10 * kSecond, 100}}, 0, 2);
  run.samples("gpu.memory_used", {{0, 5}, {kSecond, 9}, {2 * kSecond, 7}}, 0, 2);
  const RunUsage usage = run.usage();
  ASSERT_EQ(usage.gpus.size(), 1U);
  EXPECT_EQ(usage.gpus[0].gpu, 2);
  EXPECT_EQ(usage.gpus[0].utilization, 50.0);
  EXPECT_EQ(usage.gpus[0].memory_peak, 9.0);
  EXPECT_FALSE(usage.gpus[0].watts);
}

TEST(RunUsage, EnergyIsThatOfTheWholeRunAndTheMeanOfItsSteps) {
  Recorded run;
  run.process(1, 0, 0, 5).steps(4);
  run.samples("gpu.power", {{0, 100}, {10 * kSecond, 100}}, 0, 0);
  const RunUsage usage = run.usage();
  EXPECT_EQ(usage.joules, 1000.0);
  EXPECT_EQ(usage.consumers, "GPU 0");
  EXPECT_EQ(usage.joules_per_step, 100.0);
  EXPECT_EQ(usage.steps, 4U);
}

TEST(RunUsage, StepsThatPowerDoesNotCoverDoNotCount) {
  Recorded run;
  run.process(1, 0, 0, 5).steps(4);
  run.samples("gpu.power", {{kSecond / 2, 100}, {3 * kSecond, 100}}, 0, 0);
  EXPECT_EQ(run.usage().steps, 2U);
}

TEST(RunUsage, WithoutProcessesAndTelemetryNothingIsKnown) {
  Recorded run;
  const RunUsage usage = run.usage();
  EXPECT_FALSE(usage.main);
  EXPECT_FALSE(usage.tree.cpu);
  EXPECT_FALSE(usage.joules);
  EXPECT_FALSE(usage.joules_per_step);
}

TEST(RecordedRunSteps, AreReadFromTheirFact) {
  Trace trace;
  trace.facts.push_back({std::string(kRunStepsFact), "[[3,10,20],[-1,30,40],[4,9,1],[5]]"});
  const std::vector<RunStep> steps = recorded_run_steps(trace);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].number, 3);
  EXPECT_EQ(steps[1].window, (Interval{time_ns(30), time_ns(40)}));
}

TEST(RecordedRunSteps, KeepTheirTimesWhereTheTraceHasAnotherZero) {
  Trace trace;
  trace.origin_ns = 1'000;
  trace.facts.push_back(
      {std::string(kRunStepsFact), "[[3,10,20],[4,9223372036854775000,9223372036854775001]]"});
  trace.facts.push_back({std::string(kRunStepsOriginFact), "4000"});
  const std::vector<RunStep> steps = recorded_run_steps(trace);
  ASSERT_EQ(steps.size(), 1U) << "a time beyond the range is no step";
  EXPECT_EQ(steps[0].window, (Interval{time_ns(3'010), time_ns(3'020)}));
}

TEST(ExitText, NamesCodesAndSignals) {
  EXPECT_EQ(exit_text(0), "0");
  EXPECT_EQ(exit_text(3 << 8), "3");
  EXPECT_EQ(exit_text(SIGKILL), "SIGKILL");
  EXPECT_EQ(exit_text(-1), "");
}

}  // namespace
}  // namespace fathom
