// What each device did at every instant: exclusive buckets over any window.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/kernel_class.h"
#include "analysis/links.h"
#include "store/trace.h"

namespace fathom {

/// Priority order: an instant belongs to the first of these that is running.
enum class Busy : std::uint8_t { compute, communication, memcpy, memset, idle };
inline constexpr std::size_t kBusyKinds = static_cast<std::size_t>(Busy::idle) + 1;

/// Durations over one window of one device. exclusive sums to the window's length.
struct BusyTime {
  std::array<Duration, kBusyKinds> exclusive{};  ///< By Busy; idle included.
  std::array<Duration, kBusyKinds>
      total{};  ///< Union of each kind alone, overlapped or not; idle = same.
  [[nodiscard]] Duration busy() const {
    Duration sum{};
    for (std::size_t i = 0; i + 1 < kBusyKinds; ++i) sum += exclusive[i];
    return sum;
  }
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
  std::array<std::vector<Interval>, kBusyKinds - 1> unions;  ///< Per kind alone: sorted, disjoint.
  std::vector<SliceId> activities;                           ///< By start time.
  Interval span{};                                           ///< First start to last end.
};

struct Timelines {
  std::vector<DeviceTimeline> devices;  ///< By device number; only devices with activity.
  std::vector<KernelTraits> traits;     ///< Per StringId row: valid for names of kernels only.
  [[nodiscard]] const KernelTraits& traits_of(const Trace& trace, SliceId slice) const {
    return traits[trace.slices.name[slice.row()].row()];
  }
};

Timelines compute_timelines(const Trace& trace, const Links& links);

/// The buckets of `timeline` over `window`; O(log n + segments inside).
BusyTime busy_time(const DeviceTimeline& timeline, Interval window);

}  // namespace fathom
