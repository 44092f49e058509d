// What the inline parts of the SDK share: the calling thread's buffer, and the clock. Not for
// direct use.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include <time.h>

namespace fathom::detail {

/// A record as it is noted down, 16 bytes. Some kinds take two or three in a row.
struct Event {
  std::uint64_t time;
  std::uint64_t what;  ///< kind_of(what), and a pointer or number below it.
};

enum class EventKind : std::uint64_t {
  begin,           ///< Of a scope; what: its name.
  end,             ///< what: the time of its begin.
  instant,         ///< what: its name.
  sample,          ///< what: the counter. Then: the value's bits as time.
  span,            ///< time: start, what: name. Then: end, category. Then: value as time.
  begin_detailed,  ///< As begin. Then: payload as time, what: its details.
  instant_detailed,
  span_detailed,  ///< As span, and after it as begin_detailed.
};

inline constexpr unsigned kKindShift = 60;
inline constexpr std::uint64_t kWhatMask = (std::uint64_t{1} << kKindShift) - 1;

/// Where a thread notes its events down. Only its thread writes; `next` is how far, for others.
struct Buffer {
  std::atomic<Event*> next{nullptr};
  Event* end = nullptr;
};

/// Bits of mode(). At the program's start nothing is decided yet, and the first event decides.
inline constexpr std::uint32_t kRecording = 1;
inline constexpr std::uint32_t kSlowClock = 2;  ///< The processor's counter is of no use.
/// Begins are looked at: nothing is decided yet, or one of a certain name opens the recording.
inline constexpr std::uint32_t kWatching = 4;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): what the inline parts share
extern std::atomic<std::uint32_t> mode;
// Not thread_local: without a constructor to look for, its address is all that a use costs.
extern __thread Buffer* thread_buffer;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/// Room for so many events of this thread, or null where nothing is recorded. Slow.
Buffer* make_room(int events) noexcept;
/// The same text, for as long as the process lives. Texts are few: after 64 Ki all are "(other)".
const char* intern(std::string_view text) noexcept;

/// The processor's counter.
inline std::uint64_t counter_ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return 0;
#endif
}

/// Now, in the units of Event::time. Not before room() was asked: it chooses the clock.
inline std::uint64_t ticks() noexcept {
  if (__builtin_expect((mode.load(std::memory_order_relaxed) & kSlowClock) == 0, 1))
    return counter_ticks();
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline bool recording() noexcept {
  return (mode.load(std::memory_order_relaxed) & kRecording) != 0;
}

inline Buffer* room(int events) noexcept {
  Buffer* const buffer = thread_buffer;
  if (__builtin_expect(buffer != nullptr, 1)) {
    const Event* const next = buffer->next.load(std::memory_order_relaxed);
    if (__builtin_expect(buffer->end - next >= events, 1)) return buffer;
  }
  return make_room(events);
}

inline std::uint64_t pack(EventKind kind, std::uint64_t what) noexcept {
  return static_cast<std::uint64_t>(kind) << kKindShift | (what & kWhatMask);
}
inline std::uint64_t pack(EventKind kind, const void* what) noexcept {
  return pack(kind, reinterpret_cast<std::uintptr_t>(what));
}

/// Notes down an event of now. Its time, 0 where nothing is recorded.
inline std::uint64_t note(EventKind kind, std::uint64_t what) noexcept {
  Buffer* const buffer = room(1);
  if (__builtin_expect(buffer == nullptr, 0)) return 0;
  Event* const event = buffer->next.load(std::memory_order_relaxed);
  const std::uint64_t now = ticks();
  event->time = now;
  event->what = pack(kind, what);
  buffer->next.store(event + 1, std::memory_order_release);
  return now;
}

/// As note(), of a begin while kWatching. What it returns may have kOpener set.
std::uint64_t begin_watched(std::uint64_t what) noexcept;
/// The scope that begin_watched() marked has ended.
void end_watched() noexcept;
inline constexpr std::uint64_t kOpener = std::uint64_t{1} << 63;

/// The begin of a scope, by its name's bits. What end() needs of it, 0 where nothing is recorded.
inline std::uint64_t begin(std::uint32_t mode_now, std::uint64_t what) noexcept {
  if (__builtin_expect((mode_now & kWatching) != 0, 0)) return begin_watched(what);
  return note(EventKind::begin, what);
}
inline void end(std::uint64_t begun) noexcept {
  note(EventKind::end, begun);
  if (__builtin_expect((begun & kOpener) != 0, 0)) end_watched();
}

inline std::uint64_t name_bits(const char* name) noexcept {
  return reinterpret_cast<std::uintptr_t>(name);
}

}  // namespace fathom::detail
