// What the short screen says of a run.
#include "render/run_text.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr double kMiB = 1 << 20;

Style wide() {
  Style style;
  style.width = 500;
  return style;
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(RunText, TelemetryIsOneParagraph) {
  RunSummary run;
  run.usage.tree = {.wall = duration_ns(10'000'000'000),
                    .cpu = duration_ns(7'500'000'000),
                    .memory_peak = 450 * kMiB,
                    .read_bytes = 64 * kMiB,
                    .written_bytes = 0};
  run.usage.cores = 4;
  run.usage.memory_limit = 1024 * kMiB;
  run.usage.limited_by_group = true;
  run.usage.gpus.push_back(
      {.gpu = 1, .utilization = 43.0, .watts = 251.4, .watts_limit = 400.0, .memory_peak = kMiB});
  const std::string text = run_lines(run, wide());
  EXPECT_TRUE(says(text,
                   "CPU 0.75 of 4 cores; memory peak 450 MiB of 1 GiB that the container may use; "
                   "storage 64 MiB read, 0 B written; GPU 1 43.0 % busy, 251 of 400 W, memory peak "
                   "1 MiB\n"))
      << text;
}

TEST(RunText, RequestsComputeWaitAndAreReady) {
  RunSummary run;
  run.request_time = ThreadTime{.steps = 1200,
                                .wall = duration_ns(1000),
                                .computing = duration_ns(250),
                                .preempted = duration_ns(50),
                                .waiting = duration_ns(700),
                                .preempted_known = true,
                                .places = {{"serve.py:7 in load", 9}}};
  EXPECT_TRUE(says(run_lines(run, wide()),
                   "computed 25.0 % of the time, waited 70.0 % (most often at serve.py:7 in load), "
                   "and was ready without a processor for 5.0 % (1,200 of them, by the processor "
                   "time of their threads)"))
      << run_lines(run, wide());
}

TEST(RunText, WhatWasNotRecordedIsNotShown) {
  const std::string text = run_lines(RunSummary(), wide());
  EXPECT_EQ(text, "");
}

TEST(RunText, EnergyHasItsMoneyAndItsCarbon) {
  RunSummary run;
  run.usage.joules = 1000;
  run.usage.consumers = "GPU 0";
  run.usage.joules_per_step = 125;
  run.usage.steps = 8;
  run.price = 1e-4;
  run.co2_g = 0.138;
  EXPECT_TRUE(says(run_lines(run, wide()),
                   "1,000 J in the run, 125.0 J per step (mean of 8), of GPU 0; costs 0.0001; "
                   "0.14 g CO2"))
      << run_lines(run, wide());
}

/// As many steps as that, of 1 ms, 2 ms and so on.
RunSummary timed_run(std::size_t count) {
  std::vector<double> ns;
  for (std::size_t i = 1; i <= count; ++i) ns.push_back(1e6 * static_cast<double>(i));
  RunSummary run;
  run.timed = TimedSteps{.ns = summarize(ns)};
  return run;
}

TEST(RunText, FewTimedStepsHaveNoTail) {
  EXPECT_TRUE(says(timed_steps(timed_run(58)),
                   "p95 – (needs 59 values, has 58), p99 – (needs 299 values, has 58)"))
      << timed_steps(timed_run(58));
  EXPECT_TRUE(says(timed_steps(timed_run(59)), "p95 56.10 ms, p99 – (needs 299"))
      << timed_steps(timed_run(59));
  EXPECT_TRUE(timed_briefly(timed_run(299)).ends_with("p99 296.0 ms"))
      << timed_briefly(timed_run(299));
  EXPECT_TRUE(says(timed_steps(timed_run(299)), "p99 296.0 ms")) << timed_steps(timed_run(299));
}

TEST(RunText, RanksAreToldApart) {
  RunSummary run;
  for (const std::int32_t rank : {0, 1}) {
    run.usage.ranks.push_back({.rank = rank,
                               .pid = std::int64_t{10} + rank,
                               .usage = {.wall = duration_ns(1000),
                                         .cpu = duration_ns(std::int64_t{500} * (rank + 1)),
                                         .memory_peak = kMiB}});
  }
  EXPECT_TRUE(says(run_lines(run, wide()), "0: 0.50 cores, 1 MiB; 1: 1 core, 1 MiB"))
      << run_lines(run, wide());
}

TEST(RunText, OfAPlainProgramTheReasonAndTheRemedyAreSaid) {
  RunSummary run;
  run.not_recorded.push_back(
      {.what = "functions", .why = "slow", .lost = "calls", .remedy = "ask"});
  EXPECT_FALSE(says(run_lines(run, wide()), "slow"));
  run.plain = true;
  EXPECT_TRUE(says(run_lines(run, wide()), "functions: slow; ask"));
  EXPECT_TRUE(
      says(not_recorded_lines(run, wide()), "functions: slow; missing: calls; remedy: ask"));
}

TEST(RunText, ProcessesBeyondTheMostAreCounted) {
  RunSummary run;
  for (int i = 0; i < 5; ++i) run.processes.push_back({.run = {.pid = i}, .role = "child"});
  EXPECT_TRUE(says(process_lines(run, 2, wide()), "and 3 more: fathom processes"));
  EXPECT_FALSE(says(process_lines(run, 5, wide()), "more"));
}

TEST(RunText, WhatHappenedInsideIsTold) {
  RunSummary run;
  run.phases.push_back({.name = "import", .time = duration_ns(2000)});
  run.threads = 1;
  run.collector = NamedTime{.name = {}, .time = duration_ns(4000), .count = 9};
  run.functions.push_back({.name = "f", .time = duration_ns(3000), .count = 1000});
  const std::string text = inside_lines(run, wide());
  EXPECT_TRUE(says(text, "import 2.000 µs")) << text;
  EXPECT_TRUE(says(text, "1 thread started; 9 pauses of the garbage collector, 4.000 µs")) << text;
  EXPECT_TRUE(says(text, "f 3.000 µs (1,000 ×)")) << text;
}

}  // namespace
}  // namespace fathom
