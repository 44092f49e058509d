// Blocked time divided by switches: written by hand, and those of a child that waits twice.
#include "sample/switches.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample/native/perf_event.h"
#include "sample/sampler.h"

namespace fathom::sample {
namespace {

Switch out(std::int64_t time) { return {.time = time, .out = true}; }
Switch displaced(std::int64_t time) { return {.time = time, .out = true, .displaced = true}; }
Switch in(std::int64_t time) { return {.time = time}; }

TEST(Switches, DivideBetweenTwoPlaces) {
  // Asleep from 0 to 300, and again from 310 on.
  const std::vector switches{in(300), out(310)};
  const Between looks{
      .was_asleep = true, .is_asleep = true, .blocked = 990, .scheduled = 1, .since = 0};
  const auto parts = divide_blocked(looks, switches, 1000);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->before, 300);
  EXPECT_EQ(parts->between, 0);
  EXPECT_EQ(parts->after, 690);
}

TEST(Switches, AWaitThatNoLookHasMetIsOfNeitherPlace) {
  const std::vector switches{in(100), out(110), in(710), out(720)};
  const Between looks{
      .was_asleep = true, .is_asleep = true, .blocked = 980, .scheduled = 2, .since = 0};
  const auto parts = divide_blocked(looks, switches, 1000);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->before, 100);
  EXPECT_EQ(parts->between, 600);
  EXPECT_EQ(parts->after, 280);
}

TEST(Switches, TheTimeInTheQueueIsNoneOfAWait) {
  // It may go on at 200 and has a processor at 300: the scheduler says what was blocked.
  const std::vector switches{in(300), out(310)};
  const Between looks{
      .was_asleep = true, .is_asleep = true, .blocked = 890, .scheduled = 1, .since = 0};
  const auto parts = divide_blocked(looks, switches, 1000);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->before, 200);
  EXPECT_EQ(parts->after, 690);
}

TEST(Switches, WhoIsDisplacedIsNotBlocked) {
  const std::vector switches{displaced(100), in(500), out(600), in(700)};
  const Between looks{.blocked = 100, .scheduled = 2, .since = 0};
  const auto parts = divide_blocked(looks, switches, 1000);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->between, 100);
}

TEST(Switches, ThatAreNotAllSayNothing) {
  const Between slept{
      .was_asleep = true, .is_asleep = true, .blocked = 990, .scheduled = 1, .since = 0};
  EXPECT_FALSE(divide_blocked(slept, {}, 1000));
  EXPECT_FALSE(divide_blocked(slept, std::vector{out(5), in(300)}, 1000));
  EXPECT_FALSE(divide_blocked(slept, std::vector{in(300), displaced(310)}, 1000));
  EXPECT_FALSE(divide_blocked(slept, std::vector{in(300), in(310), out(320)}, 1000));
  Between more = slept;
  more.scheduled = 2;
  EXPECT_FALSE(divide_blocked(more, std::vector{in(300), out(310)}, 1000));
}

TEST(Switches, PartsAlwaysSumToWhatWasBlocked) {
  for (const std::int64_t blocked : {0, 1, 7, 100, 990, 5000}) {
    for (const std::int64_t since : {0, 400, 2000}) {
      const std::vector switches{in(300), out(310), in(500), out(510)};
      const Between looks{.was_asleep = true,
                          .is_asleep = true,
                          .blocked = blocked,
                          .scheduled = 2,
                          .since = since};
      const auto parts = divide_blocked(looks, switches, 1000);
      ASSERT_TRUE(parts);
      EXPECT_EQ(parts->before + parts->between + parts->after, blocked);
      EXPECT_GE(parts->before, 0);
      EXPECT_GE(parts->between, 0);
      EXPECT_GE(parts->after, 0);
    }
  }
}

/// What was blocked, by the pipe that was waited for; "" where nothing is known.
class Pipes final : public SampleSink {
 public:
  void take(const ThreadSample& sample) override {
    const bool known = sample.wait != nullptr && !sample.wait->objects.empty();
    blocked[known ? sample.wait->objects.front() : ""] += sample.spent.blocked;
  }
  std::map<std::string, std::int64_t> blocked;
};

std::string name_of(int end) {
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(end);
  const ssize_t size = readlink(link.c_str(), target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : "";
}

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void pass(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

bool reads(pid_t pid, int end) {
  const Task task = read_task(pid, pid);
  return task.state == 'S' && task.call && task.arguments[0] == static_cast<std::uint64_t>(end);
}

TEST(Switches, OfAThreadThatWaitsTwiceBetweenTwoLooksEachWaitIsKnown) {
  if (const auto event = native::SwitchEvent::open(getpid()); !event)
    GTEST_SKIP() << event.error().message;
  std::array<int, 2> first{};
  std::array<int, 2> second{};
  ASSERT_EQ(pipe(first.data()), 0);
  ASSERT_EQ(pipe(second.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    _exit(read(first[0], &byte, 1) == 1 && read(second[0], &byte, 1) == 1 ? 0 : 1);
  }
  while (!reads(child, first[0])) pass(1);
  Pipes pipes;
  Sampler::Options options;
  options.native = Sampler::Options::Native::below_python;
  auto sampler = Sampler::open(child, options, pipes);
  ASSERT_TRUE(sampler) << sampler.error().message;
  const std::int64_t begin = now_ns();
  while ((*sampler)->state().native.switched == 0 && now_ns() - begin < 30'000'000'000) {
    (*sampler)->look();
    pass(5);
  }
  ASSERT_EQ((*sampler)->state().native.switched, 1);
  pass(150);
  const std::int64_t told = now_ns();
  ASSERT_EQ(write(first[1], "x", 1), 1);
  while (!reads(child, second[0])) pass(1);
  const std::int64_t waits = now_ns();
  pass(150);
  (*sampler)->look();
  const std::int64_t end = now_ns();
  (*sampler)->finish();
  // Neither is known by looks alone: 150 ms of each pass between the two.
  EXPECT_EQ(pipes.blocked[""], 0);
  EXPECT_GE(pipes.blocked[name_of(first[0])], told - begin);
  EXPECT_GE(pipes.blocked[name_of(second[0])], end - waits - 10'000'000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const int each : {first[0], first[1], second[0], second[1]}) close(each);
}

}  // namespace
}  // namespace fathom::sample
