// Converter: from the events of a thread to the records of the capture file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include <fathom/record.h>

#include "capture/inside/clock_map.h"
#include "capture/inside/details.h"
#include "capture/inside/shared_page.h"
#include "wire/writer.h"

namespace fathom::inside {

/// A series of values as counter.h makes it. Never freed.
struct Series {
  const char* name = "";
  const char* unit = "";
  Series* next = nullptr;  ///< In the list of all.
};

/// A scope that a thread has begun and not yet ended.
struct OpenScope {
  std::uint64_t ticks = 0;
  std::int64_t time = 0;
  const char* name = nullptr;
  const Details* details = nullptr;
  std::uint64_t payload = 0;
  bool written = false;  ///< As a `begin`; it ends by an `end`.
};

/// What is known of a thread between two conversions.
struct ThreadState {
  std::int64_t tid = 0;
  std::vector<OpenScope> open;
  std::int64_t last = 0;  ///< Times of one thread do not go back, so that nesting holds.
};

/// Who may not want what happens now.
enum class Reason : std::uint8_t { profile = 1, steps = 2, range = 4, time = 8 };

/// Which events are kept: those that no reason speaks against. Thread-safe. Where there is no
/// memory for a further stretch of time, the oldest that may still be asked for is forgotten, and
/// counted.
class Windows {
 public:
  /// From here on, that reason speaks for keeping, or against it. A time of the processor's
  /// counter; 0: has always done so.
  void keep(Reason reason, bool wanted, std::uint64_t ticks);
  [[nodiscard]] bool keeps(std::uint64_t ticks) const;
  [[nodiscard]] bool unlimited() const;
  /// Something may have been kept.
  [[nodiscard]] bool ever_open() const;
  /// Stretches that were forgotten for lack of memory since the last call: what was noted down in
  /// them is not kept.
  std::uint64_t take_forgotten();
  /// Nothing before will be asked for.
  void forget_before(std::uint64_t ticks);
  /// From now on what is kept shows there; null: nowhere.
  void show_on(SharedPage* page);
  /// Around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Window {
    std::uint64_t from = 0;
    std::uint64_t to = UINT64_MAX;
  };
  void begin_window(std::uint64_t ticks);

  mutable std::mutex mutex_;
  std::vector<Window> earlier_;  // in order
  Window last_;
  std::uint64_t forgotten_ = 0;
  unsigned against_ = 0;  // Reasons
  bool ever_open_ = false;
  SharedPage* page_ = nullptr;
};

/// Not thread-safe; one at a time converts. What there is no memory for is counted as a failure.
class Converter {
 public:
  Converter(wire::Writer& writer, ClockMap& clock, const Windows& windows, std::int32_t pid)
      : writer_(writer), clock_(clock), windows_(windows), pid_(pid) {}

  void convert(ThreadState& thread, std::span<const detail::Event> events);
  /// Writes the begin of scopes that were begun before `before`, so that a kill leaves them.
  void write_open(ThreadState& thread, std::int64_t before);
  /// Hands what was converted to the writer.
  void finish();

 private:
  void one(ThreadState& thread, const detail::Event* event);
  void begin(ThreadState& thread, const detail::Event& event, const detail::Event* detailed);
  void end(ThreadState& thread, const detail::Event& event);
  void instant(ThreadState& thread, const detail::Event& event, const detail::Event* detailed);
  void sample(ThreadState& thread, const detail::Event* event);
  void span(ThreadState& thread, const detail::Event* event, const detail::Event* detailed);
  void add(const wire::Slice& slice, const Details* details, std::uint64_t payload);
  std::uint32_t counter_of(const Series* series);
  std::int64_t time(ThreadState& thread, std::uint64_t ticks);

  wire::Writer& writer_;
  ClockMap& clock_;
  const Windows& windows_;
  std::int32_t pid_;
  static constexpr std::size_t kBatch = 512;
  std::array<wire::Slice, kBatch> slices_;
  std::size_t slices_count_ = 0;
  std::map<const Series*, std::uint32_t> counters_;
};

}  // namespace fathom::inside
