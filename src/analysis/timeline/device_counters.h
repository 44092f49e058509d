// Counters that nobody recorded: how full a device's queue was, and how busy the device.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/structure/links.h"
#include "analysis/structure/timeline.h"
#include "analysis/timeline/counter_series.h"

namespace fathom {

/// What there is of each device, in this order.
inline constexpr std::array<std::string_view, 2> kDeviceCounters = {"Launch queue", "Utilisation"};
inline constexpr std::array<std::string_view, 2> kDeviceCounterUnits = {"", "percent"};
/// "Launch queue, device 0".
std::string device_counter_title(std::size_t counter, std::int32_t device);

/// How many activities of the device were launched and had not begun: more by one where the call
/// that launches one begins, less by one where the activity begins. Activities without a launch,
/// and those that seem to begin before it, take no part. At 0 the device waits for the host. O(n)
/// where launches are recorded in order, else O(n log n).
CounterSeries queue_series(const Trace& trace, const Links& links, const DeviceTimeline& timeline);

/// 100 while any activity runs on the device, else 0, in percent: the mean over a stretch is the
/// busy share of it. O(n).
CounterSeries utilisation_series(const Trace& trace, const DeviceTimeline& timeline);

/// All of kDeviceCounters of each of these devices; of one that did nothing they have no values.
std::vector<CounterSeries> device_counters(const Trace& trace, const Links& links,
                                           const Timelines& timelines,
                                           const std::vector<std::int32_t>& devices);

}  // namespace fathom
