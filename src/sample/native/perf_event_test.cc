// Records of perf written by hand, damaged ones, and those of this thread.
#include "sample/native/perf_event.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::sample::native {
namespace {

template <typename T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string record(std::uint32_t type, const std::string& body) {
  perf_event_header header{};
  header.type = type;
  header.size = static_cast<std::uint16_t>(sizeof header + body.size());
  std::string bytes;
  put(bytes, header);
  return bytes + body;
}

/// Thread 7 at 5 ns, its registers counted from 100 on, with 16 bytes of stack, 8 of them copied.
std::string sample(std::uint64_t abi = PERF_SAMPLE_REGS_ABI_64, std::uint64_t copied = 8) {
  std::string body;
  put(body, std::uint32_t{6});
  put(body, std::uint32_t{7});
  put(body, std::uint64_t{5});
  put(body, abi);
#if defined(__x86_64__)
  constexpr std::uint64_t kCount = 17;
#else
  constexpr std::uint64_t kCount = 33;
#endif
  for (std::uint64_t i = 0; i < kCount; ++i) put(body, 100 + i);
  put(body, std::uint64_t{16});
  body += "stack...unused..";
  put(body, copied);
  return record(PERF_RECORD_SAMPLE, body);
}

PerfCounts counts_of(const std::string& bytes) {
  PerfRecords records;
  records.read(std::as_bytes(std::span(bytes)), [](const PerfSample&) {});
  return records.counts();
}

TEST(PerfRecords, HoldRegistersAndStack) {
  PerfRecords records;
  const std::string bytes = sample();
  int taken = 0;
  records.read(std::as_bytes(std::span(bytes)), [&](const PerfSample& one) {
    ++taken;
    EXPECT_EQ(one.thread, 7);
    EXPECT_EQ(one.time, 5);
    EXPECT_EQ(one.stack.bytes.size(), 8U);
    EXPECT_EQ(one.stack.begin, one.registers.get(kMachine.stack));
#if defined(__x86_64__)
    // The kernel's order: ax, bx, cx, dx, si, di, bp, sp, ip, flags …
    EXPECT_EQ(one.registers.get(3), 101U);
    EXPECT_EQ(one.registers.get(7), 107U);
    EXPECT_EQ(one.registers.get(16), 108U);
#endif
  });
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(records.counts().samples, 1);
}

TEST(PerfRecords, CountWhatIsNone) {
  EXPECT_EQ(counts_of(sample(PERF_SAMPLE_REGS_ABI_NONE)).other, 1);
  EXPECT_EQ(counts_of(sample(PERF_SAMPLE_REGS_ABI_64, 17)).broken, 1);
  std::string lost;
  put(lost, std::uint64_t{1});
  put(lost, std::uint64_t{42});
  EXPECT_EQ(counts_of(record(PERF_RECORD_LOST, lost)).lost, 42);
  EXPECT_EQ(counts_of("").broken, 1);
  const std::string whole = sample();
  for (std::size_t size = sizeof(perf_event_header); size < whole.size(); ++size) {
    const std::string cut =
        record(PERF_RECORD_SAMPLE, whole.substr(sizeof(perf_event_header), size - 8));
    EXPECT_EQ(counts_of(cut).samples, 0) << size;
  }
}

TEST(PerfSwitches, AreParsed) {
  std::string body;
  put(body, std::uint32_t{6});
  put(body, std::uint32_t{7});
  put(body, std::uint64_t{5});
  const auto parsed = [&body](std::uint32_t type, std::uint16_t misc, std::size_t size) {
    std::string bytes = record(type, body.substr(0, size));
    std::memcpy(bytes.data() + offsetof(perf_event_header, misc), &misc, sizeof misc);
    return parse_switch(std::as_bytes(std::span(bytes)));
  };
  const auto in = parsed(PERF_RECORD_SWITCH, 0, 16);
  ASSERT_TRUE(in);
  EXPECT_EQ(in->time, 5);
  EXPECT_FALSE(in->out);
  const auto out = parsed(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 16);
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->out);
  EXPECT_FALSE(out->displaced);
  const auto displaced = parsed(
      PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 16);
  ASSERT_TRUE(displaced);
  EXPECT_TRUE(displaced->displaced);
  EXPECT_FALSE(parsed(PERF_RECORD_SWITCH, 0, 15));
  EXPECT_FALSE(parsed(PERF_RECORD_LOST, 0, 16));
}

TEST(PerfSwitches, OfAThreadThatSleepsAreOutAndIn) {
  Result<SwitchEvent> event = SwitchEvent::open(static_cast<pid_t>(::syscall(SYS_gettid)));
  if (!event) GTEST_SKIP() << event.error().message;
  const std::uint64_t before = (*event).state();
  ::usleep(1000);
  EXPECT_NE((*event).state(), before);
  std::vector<Switch> switches;
  Begun begun;
  EXPECT_TRUE((*event).read(switches, begun));
  ASSERT_GE(switches.size(), 2U);
  const bool slept =
      std::ranges::any_of(switches, [](const Switch& each) { return each.out && !each.displaced; });
  EXPECT_TRUE(slept);
  EXPECT_FALSE(switches.back().out);
}

TEST(PerfSwitches, TellWhatAThreadBegins) {
  const auto own = static_cast<pid_t>(::syscall(SYS_gettid));
  Result<SwitchEvent> event = SwitchEvent::open(own);
  if (!event) GTEST_SKIP() << event.error().message;
  std::vector<Switch> switches;
  Begun begun;
  (*event).read(switches, begun);
  EXPECT_TRUE(begun.processes.empty());
  EXPECT_FALSE(begun.threads);
  const pid_t child = ::fork();
  if (child == 0) _exit(0);
  ::waitpid(child, nullptr, 0);
  std::thread([] {}).join();
  ASSERT_EQ(::prctl(PR_SET_NAME, "another name"), 0);
  (*event).read(switches, begun);
  EXPECT_EQ(begun.processes, std::vector{child});
  EXPECT_TRUE(begun.threads);
  EXPECT_FALSE(begun.program);
  EXPECT_FALSE(begun.ended);
  const std::vector<std::pair<pid_t, std::string>> names = {{own, "another name"}};
  EXPECT_EQ(begun.names, names);
}

TEST(PerfSwitches, AnotherProgramIsTold) {
  std::array<int, 2> gate{};
  ASSERT_EQ(::pipe(gate.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    if (::read(gate[0], &byte, 1) == 1) ::execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  Result<SwitchEvent> event = SwitchEvent::open(child);
  EXPECT_EQ(::write(gate[1], "x", 1), 1);
  ::waitpid(child, nullptr, 0);
  ::close(gate[0]);
  ::close(gate[1]);
  if (!event) GTEST_SKIP() << event.error().message;
  std::vector<Switch> switches;
  Begun begun;
  (*event).read(switches, begun);
  EXPECT_TRUE(begun.program);
  EXPECT_TRUE(begun.ended);
}

TEST(PerfSwitches, SoManyThatSomeMayBeLostAreNotAll) {
  Result<SwitchEvent> event = SwitchEvent::open(static_cast<pid_t>(::syscall(SYS_gettid)));
  if (!event) GTEST_SKIP() << event.error().message;
  for (int i = 0; i < 400; ++i) ::prctl(PR_SET_NAME, "some name");
  std::vector<Switch> switches;
  Begun begun;
  EXPECT_FALSE((*event).read(switches, begun));
  EXPECT_TRUE((*event).read(switches, begun));
}

TEST(PerfEvent, CopiesTheStackOfAThreadThatRuns) {
  const auto thread = static_cast<pid_t>(::syscall(SYS_gettid));
  Result<PerfEvent> event = PerfEvent::open(thread, 1'000'000);
  if (!event) GTEST_SKIP() << event.error().message;
  int taken = 0;
  const auto here = reinterpret_cast<std::uintptr_t>(&taken);
  // It has run for a millisecond sooner or later.
  while (taken == 0) {
    (*event).read([&](const PerfSample& one) {
      ++taken;
      EXPECT_EQ(one.thread, thread);
      EXPECT_GT(one.stack.bytes.size(), 0U);
      EXPECT_LE(one.stack.begin, here);
      EXPECT_TRUE(one.registers.get(kMachine.counter));
    });
  }
}

TEST(PerfEvent, MayBePassedOver) {
  const auto thread = static_cast<pid_t>(::syscall(SYS_gettid));
  Result<PerfEvent> event = PerfEvent::open(thread, 1'000'000);
  if (!event) GTEST_SKIP() << event.error().message;
  std::int64_t passed = 0;
  while (passed == 0) passed = (*event).skip();
  EXPECT_GE(passed, 1);
  EXPECT_EQ((*event).counts().samples, 0);
  // What comes later is read.
  while ((*event).counts().samples == 0) (*event).read([](const PerfSample&) {});
}

TEST(PerfEvent, OfAThreadThatIsNotThereSaysSo) {
  const Result<PerfEvent> event = PerfEvent::open(999'999'999, 1'000'000);
  ASSERT_FALSE(event);
  EXPECT_FALSE(event.error().message.empty());
}

TEST(PerfEvent, ARefusalSaysWhatHelps) {
  EXPECT_NE(perf_refusal(EACCES).remedy.find("perf_event_paranoid"), std::string::npos);
  EXPECT_NE(perf_refusal(ENOSYS).remedy.find("seccomp"), std::string::npos);
  EXPECT_FALSE(perf_refusal(EINVAL).why.empty());
}

}  // namespace
}  // namespace fathom::sample::native
