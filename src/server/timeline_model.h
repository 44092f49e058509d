// TimelineModel: the tracks of a recording as the page numbers them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/timeline/counter_series.h"
#include "analysis/timeline/device_counters.h"
#include "analysis/timeline/lane_tracks.h"
#include "analysis/timeline/slice_class.h"
#include "base/result.h"
#include "server/slice_names.h"

namespace fathom::server {

/// Immutable. The trace must outlive it. Tracks have numbers from 1 on: those with slices, then an
/// accounting track for each device (or for the main thread, where there is none), then recorded
/// counters, then the counters of each device (analysis/timeline/device_counters.h).
struct TimelineModel {
  explicit TimelineModel(const Trace& trace);

  LaneTracks lanes;
  SliceClasses classes;
  SliceNames names;
  std::vector<CounterSeries> counters;
  std::vector<std::int32_t> devices;  ///< With activities; ascending.

  [[nodiscard]] std::size_t id_of_lanes(std::size_t place) const { return place + 1; }
  [[nodiscard]] std::size_t id_of_account(std::size_t place) const {
    return lanes.tracks().size() + 1 + place;
  }
  [[nodiscard]] std::size_t accounts() const { return devices.empty() ? 1 : devices.size(); }
  [[nodiscard]] std::size_t id_of_counter(std::size_t place) const {
    return id_of_account(accounts()) + place;
  }
  /// A counter that is no recorded one, by device and then counter.
  [[nodiscard]] std::size_t id_of_device_counter(std::size_t place) const {
    return id_of_counter(counters.size()) + place;
  }
  [[nodiscard]] std::size_t device_counters() const {
    return devices.size() * kDeviceCounters.size();
  }

  /// "1,2,7" as places in lanes.tracks(), in their order; all of them for "". Errors:
  /// invalid_argument for what is no number, not_found for what is no track with slices.
  [[nodiscard]] Result<std::vector<std::size_t>> lane_tracks(std::string_view ids) const;
};

}  // namespace fathom::server
