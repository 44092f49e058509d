// Turns launches and activities of a device into counters.
#include "analysis/timeline/device_counters.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "analysis/util/row_order.h"

namespace fathom {
namespace {

/// A series of the device that is 0 from the begin of the recording on.
CounterSeries begun(const Trace& trace, std::size_t counter, const DeviceTimeline& timeline) {
  CounterSeries series{.title = device_counter_title(counter, timeline.device),
                       .unit = std::string(kDeviceCounterUnits[counter]),
                       .process = {},
                       .device = timeline.device,
                       .times = {},
                       .values = {}};
  series.times.push_back(std::min(trace.span.begin, timeline.span.begin));
  series.values.push_back(0);
  return series;
}

/// From that time on; what held for no time is left out.
void put(CounterSeries& series, Time time, double value) {
  if (series.times.back() == time) {
    series.values.back() = value;
    return;
  }
  if (series.values.back() == value) return;
  series.times.push_back(time);
  series.values.push_back(value);
}

}  // namespace

std::string device_counter_title(std::size_t counter, std::int32_t device) {
  return std::string(kDeviceCounters[counter]) + ", device " + std::to_string(device);
}

CounterSeries queue_series(const Trace& trace, const Links& links, const DeviceTimeline& timeline) {
  std::vector<Time> launched;
  std::vector<Time> began;
  for (const SliceId activity : timeline.activities) {
    const SliceId call = links.launch[activity.row()];
    if (!call.valid()) continue;
    const Time launch = trace.slices.start[call.row()];
    const Time start = trace.slices.start[activity.row()];
    if (launch >= start) continue;
    launched.push_back(launch);
    began.push_back(start);  // in order, as the activities are
  }
  sort_rows(std::span<Time>(launched), [](Time a, Time b) { return a < b; });
  CounterSeries series = begun(trace, 0, timeline);
  if (!launched.empty()) series.times.front() = std::min(series.times.front(), launched.front());
  std::size_t next = 0;
  for (std::size_t gone = 0; gone < began.size(); ++gone) {
    for (; next < launched.size() && launched[next] <= began[gone]; ++next)
      put(series, launched[next], static_cast<double>(next + 1 - gone));
    put(series, began[gone], static_cast<double>(next - gone - 1));
  }
  return series;
}

CounterSeries utilisation_series(const Trace& trace, const DeviceTimeline& timeline) {
  CounterSeries series = begun(trace, 1, timeline);
  series.is_share = true;
  Time end = series.times.front();
  for (const DeviceTimeline::Segment& segment : timeline.segments) {
    if (segment.interval.begin > end) put(series, end, 0);
    put(series, segment.interval.begin, 100);
    end = segment.interval.end;
  }
  put(series, end, 0);
  return series;
}

std::vector<CounterSeries> device_counters(const Trace& trace, const Links& links,
                                           const Timelines& timelines,
                                           const std::vector<std::int32_t>& devices) {
  std::vector<CounterSeries> all;
  for (const std::int32_t device : devices) {
    if (const DeviceTimeline* const timeline = timelines.find(device)) {
      all.push_back(queue_series(trace, links, *timeline));
      all.push_back(utilisation_series(trace, *timeline));
    } else {
      all.resize(all.size() + kDeviceCounters.size());
    }
  }
  return all;
}

}  // namespace fathom
