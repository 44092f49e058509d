// A child that computes, sampled at a price that is above the limit.
#include "sample/sampler.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/prctl.h>
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

class Names final : public SampleSink {
 public:
  void take(const ThreadSample& sample) override { name = sample.name; }
  std::string name;
};

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

TEST(ProcessSampler, WhatAThreadStartsAndHowItIsCalledIsTold) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  ASSERT_EQ(pipe(to.data()), 0);
  ASSERT_EQ(pipe(from.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    if (read(to[0], &byte, 1) != 1) _exit(1);
    prctl(PR_SET_NAME, "another");
    const pid_t own = fork();
    if (own == 0) {
      pause();
      _exit(0);
    }
    if (write(from[1], &own, sizeof own) != sizeof own) _exit(1);
    pause();
    _exit(0);
  }
  native::Watch watch(10'000'000);
  FileBudget files;
  Names names;
  ProcessSampler::Options options;
  options.watch = &watch;
  ProcessSampler sampler(child, options, files, names);
  const std::int64_t begin = now_ns();
  while (!sampler.tells_children() && now_ns() - begin < 30'000'000'000) {
    sampler.look(now_ns(), true);
    if (sampler.has_children()) sampler.new_children();
    if (watch.counts().switched == 0 && now_ns() - begin > 1'000'000'000) break;
    pass(5);
  }
  const bool told = sampler.tells_children();
  EXPECT_FALSE(sampler.has_children());
  EXPECT_EQ(write(to[1], "x", 1), 1);
  pid_t own = 0;
  EXPECT_EQ(read(from[0], &own, sizeof own), static_cast<ssize_t>(sizeof own));
  sampler.look(now_ns(), true);
  if (told) {
    EXPECT_TRUE(sampler.has_children());
    EXPECT_EQ(sampler.new_children(), std::vector{own});
    EXPECT_FALSE(sampler.has_children());
    EXPECT_TRUE(sampler.new_children().empty());
    pass(60);
    sampler.look(now_ns(), true);
    sampler.finish();
    EXPECT_EQ(names.name, "another");
  }
  for (const pid_t each : {own, child}) kill(each, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const int each : {to[0], to[1], from[0], from[1]}) close(each);
  if (!told) GTEST_SKIP() << "perf may not be used";
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
