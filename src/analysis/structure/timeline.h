// What each device did at every instant: exclusive buckets over any window.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/kernels/kernel_class.h"
#include "analysis/structure/links.h"
#include "store/trace.h"

namespace fathom {

/// Priority order: an instant belongs to the first of these that is running.
enum class Busy : std::uint8_t { compute, communication, memcpy, memset, idle };
inline constexpr std::size_t kBusyKinds = static_cast<std::size_t>(Busy::idle) + 1;
std::string_view to_string(Busy busy);

/// Durations over one window of one device. `exclusive` sums to the window's length to the ns.
struct BusyTime {
  std::array<Duration, kBusyKinds> exclusive{};  ///< By Busy; idle included.
  std::array<Duration, kBusyKinds>
      total{};  ///< Union of each kind alone, overlapped or not; idle: as in `exclusive`.
  [[nodiscard]] Duration operator[](Busy kind) const {
    return exclusive[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] Duration total_of(Busy kind) const { return total[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Duration busy() const {
    Duration sum{};
    for (std::size_t i = 0; i + 1 < kBusyKinds; ++i) sum += exclusive[i];
    return sum;
  }
  BusyTime& operator+=(const BusyTime& other);
};

/// The activities of one device as maximal stretches of one Busy value each (idle gaps are not
/// stored).
struct DeviceTimeline {
  std::int32_t device = 0;
  struct Segment {
    Interval interval;
    Busy busy = Busy::idle;
  };
  std::vector<Segment> segments;                             ///< Sorted, disjoint.
  std::array<std::vector<Interval>, kBusyKinds - 1> unions;  ///< Per kind: sorted, disjoint.
  std::vector<SliceId> activities;                           ///< By start time, then file order.
  Interval span{};                                           ///< First start to last end.
};

struct Timelines {
  std::vector<DeviceTimeline> devices;  ///< By device number; only devices with activity.
  std::vector<KernelTraits> traits;     ///< Per StringId row: valid for names of kernels only.
  [[nodiscard]] const KernelTraits& traits_of(const Trace& trace, SliceId slice) const {
    return traits[trace.slices.name[slice.row()].row()];
  }
  /// What kind of work a device activity is: never idle.
  [[nodiscard]] Busy busy_kind(const Trace& trace, SliceId activity) const;
  /// The timeline of that device, or nullptr when it did nothing.
  [[nodiscard]] const DeviceTimeline* find(std::int32_t device) const;
};

/// O(n) for the n activities of `links`, which are sorted already.
Timelines compute_timelines(const Trace& trace, const Links& links);

/// The buckets of `timeline` over `window`; O(log n + segments inside).
BusyTime busy_time(const DeviceTimeline& timeline, Interval window);

/// From the first activity to the end of the last, as far as they lie in `window`; empty when
/// nothing does. O(log n).
Interval active_span(const DeviceTimeline& timeline, Interval window);

/// The first instant at or after `from` at which the device does anything, or the end of time
/// (Time::max()) when it does nothing more. `from` itself when it is busy then. O(log n).
Time next_busy(const DeviceTimeline& timeline, Time from);

}  // namespace fathom
