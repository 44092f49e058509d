// A child that computes, sampled at a price that is above the limit.
#include "sample/sampler.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample/stack_sums.h"
#include "sample/task.h"

namespace fathom::sample {
namespace {

std::int64_t used_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

TEST(Sampler, NativeStacksThatWouldCostTooMuchAreCountedAndTheirTimeIsNotLost) {
  const pid_t child = fork();
  if (child == 0) {
    static volatile std::uint64_t sink = 0;
    while (true) sink = sink + 1;
  }
  StackSums sums;
  Sampler::Options options;
  options.period = 1'000'000;
  options.native = Sampler::Options::Native::all;
  options.most_cost = 1e-6;
  auto sampler = Sampler::open(child, options, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  const std::int64_t begin = used_ns();
  const auto enough = [&] {
    // What looking may cost once is used up here.
    while (used_ns() - begin < 60'000'000) continue;
    const native::WatchCounts counts = (*sampler)->state().native;
    return counts.skipped > 0 || counts.refused > 0;
  };
  const std::int64_t before = read_task(child, child).on_cpu.value_or(0);
  (*sampler)->run(30'000'000'000, enough);
  const std::int64_t so_far = read_task(child, child).on_cpu.value_or(0);
  (*sampler)->finish();
  const std::int64_t after = read_task(child, child).on_cpu.value_or(0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const SamplerState state = (*sampler)->state();
  if (state.native.refused > 0) GTEST_SKIP() << state.native.refusal;
  EXPECT_GT(state.native.skipped, 0);
  // It was looked at from a little before.
  EXPECT_GE(sums.on_cpu(), so_far - before);
  EXPECT_LE(sums.on_cpu(), after);
}

void pass(long milliseconds) {
  const timespec time{.tv_sec = 0, .tv_nsec = milliseconds * 1'000'000};
  nanosleep(&time, nullptr);
}

TEST(Sampler, AThreadThatSleptForLongIsMetAsSoonAsItRuns) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1) _exit(1);
    static volatile std::uint64_t sink = 0;
    while (true) sink = sink + 1;
  }
  StackSums sums;
  auto sampler = Sampler::open(child, {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  // By now its switches are written down, and it is looked at less often.
  for (int look = 0; look < 100; ++look) {
    (*sampler)->look();
    pass(3);
  }
  const std::int64_t before = read_task(child, child).on_cpu.value_or(0);
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  const auto ran = [&] { return read_task(child, child).on_cpu.value_or(0) - before; };
  while (ran() < 20'000'000) pass(1);
  const std::int64_t until = ran();
  (*sampler)->look();
  if ((*sampler)->state().native.switched > 0) {
    EXPECT_GE(sums.on_cpu(), until);
  }
  (*sampler)->finish();
  EXPECT_GE(sums.on_cpu(), until);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const int end : ends) close(end);
}

class Walls final : public SampleSink {
 public:
  void take(const ThreadSample& sample) override {
    wall_ += sample.spent.on_cpu + sample.spent.queued + sample.spent.blocked;
  }
  [[nodiscard]] std::int64_t wall() const { return wall_; }

 private:
  std::int64_t wall_ = 0;
};

TEST(Sampler, WhatAProgramSleptBeforeItWasFoundCounts) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  constexpr timespec kFirst{.tv_sec = 0, .tv_nsec = 250'000'000};
  nanosleep(&kFirst, nullptr);
  Walls sums;
  Sampler::Options options;
  options.fresh = true;
  auto sampler = Sampler::open(child, options, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  (*sampler)->look();
  (*sampler)->finish();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  // The kernel tells its start in ticks of 10 ms.
  EXPECT_GE(sums.wall(), 230'000'000);
}

}  // namespace
}  // namespace fathom::sample
