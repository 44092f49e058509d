// Time in a trace: signed 64-bit nanoseconds, with points and durations distinguished by type.
#pragma once

#include <chrono>
#include <cstdint>

namespace fathom {

/// Nanoseconds since Trace::origin. Not a running clock: there is no now().
struct TraceClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<TraceClock>;
  static constexpr bool is_steady = true;
};

using Duration = TraceClock::duration;
using Time = TraceClock::time_point;

/// A half-open stretch of trace time, [begin, end).
struct Interval {
  Time begin;
  Time end;
  [[nodiscard]] constexpr Duration length() const { return end - begin; }
  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

/// Integers only at the edges: columns of a report, JSON.
constexpr std::int64_t to_ns(Duration duration) { return duration.count(); }
constexpr std::int64_t to_ns(Time time) { return time.time_since_epoch().count(); }
constexpr Duration duration_ns(std::int64_t ns) { return Duration(ns); }
constexpr Time time_ns(std::int64_t ns) { return Time(Duration(ns)); }

}  // namespace fathom
