// Waits for perf's samples.
#include "sample/native/watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <span>
#include <utility>

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fathom::sample::native {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

/// To the nanosecond where the kernel can.
int wait_for(int poll, std::span<epoll_event> events, std::int64_t time) {
  const timespec until{.tv_sec = time / kNsPerSecond, .tv_nsec = time % kNsPerSecond};
  const int most = static_cast<int>(events.size());
#ifdef SYS_epoll_pwait2
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const long count = ::syscall(SYS_epoll_pwait2, poll, events.data(), most, &until, nullptr, 0);
  // A container's seccomp profile that does not know the call may say "not permitted".
  if (count >= 0 || errno == EINTR) return static_cast<int>(count);
#endif
  const std::int64_t milliseconds = time / 1'000'000;
  if (milliseconds == 0) ::clock_nanosleep(CLOCK_MONOTONIC, 0, &until, nullptr);
  const int known = ::epoll_wait(poll, events.data(), most, static_cast<int>(milliseconds));
  // Nothing can be waited for: the time passes all the same.
  if (known < 0 && errno != EINTR) ::clock_nanosleep(CLOCK_MONOTONIC, 0, &until, nullptr);
  return known;
}

}  // namespace

Watch::Watch(std::int64_t period) : period_(period), poll_(::epoll_create1(EPOLL_CLOEXEC)) {}

std::optional<PerfEvent> Watch::open(pid_t process, pid_t thread) {
  if (!files_.take()) {
    refuse("no more files may be opened: raise ulimit -n");
    return std::nullopt;
  }
  std::optional<PerfEvent> event = open_event(process, thread);
  if (!event) files_.give_back();
  return event;
}

std::optional<SwitchEvent> Watch::open_switches(pid_t thread) {
  if (!switch_files_.take()) return std::nullopt;
  Result<SwitchEvent> event = SwitchEvent::open(thread);
  if (!event) {
    switch_files_.give_back();
    return std::nullopt;
  }
  ++counts_.switched;
  return std::optional<SwitchEvent>(std::move(*event));
}

std::optional<PerfEvent> Watch::open_event(pid_t process, pid_t thread) {
  Result<PerfEvent> event = PerfEvent::open(thread, period_);
  if (!event) {
    // One that has ended meanwhile is nobody's loss.
    if (event.error().code == ErrorCode::not_found) return std::nullopt;
    refuse(event.error().message);
    return std::nullopt;
  }
  epoll_event what{};
  what.events = EPOLLIN;
  what.data.u64 = std::uint64_t{static_cast<std::uint32_t>(process)} << 32U |
                  static_cast<std::uint32_t>(thread);
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, (*event).descriptor(), &what) != 0) {
    refuse("no more events may be waited for");
    return std::nullopt;
  }
  return std::optional<PerfEvent>(std::move(*event));
}

void Watch::refuse(const std::string& why) {
  ++counts_.refused;
  if (counts_.refusal.empty()) counts_.refusal = why;
}

void Watch::release(const PerfEvent& event) {
  const PerfCounts& counts = event.counts();
  counts_.lost += counts.lost + counts.other + counts.broken;
  files_.give_back();
}

void Watch::leave(const PerfEvent& event) {
  ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, event.descriptor(), nullptr);
}

void Watch::wait(std::int64_t until, const Ready& ready) {
  const std::int64_t left = std::max<std::int64_t>(0, until - now_ns());
  std::array<epoll_event, 64> events{};
  // Perf tells once that there is something to read, to whoever asks first: so only this asks.
  const int count = wait_for(poll_.get(), events, left);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    ready(static_cast<pid_t>(event.data.u64 >> 32U),
          static_cast<pid_t>(event.data.u64 & 0xffffffffU), (event.events & EPOLLHUP) != 0);
  }
}

}  // namespace fathom::sample::native
