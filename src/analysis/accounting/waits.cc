// Joins event waits with the work before their events.
#include "analysis/accounting/waits.h"

#include <algorithm>
#include <string_view>

namespace fathom {
namespace {

/// No device takes so long to begin: it does work that was launched before the recording, or waits
/// for the profiler.
constexpr Duration kLongestLaunch = duration_ns(1'000'000);

constexpr std::string_view kStreamWait = "Stream Wait Event";

/// What was put onto the streams of one number: when, and until when it and all before it ran.
struct Work {
  Time launched;
  Time end;
};

/// Waits of streams, in the order of the file.
std::vector<SliceId> stream_waits(const Trace& trace) {
  std::vector<SliceId> waits;
  const StringId kind = trace.strings.find(kStreamWait);
  if (!kind.valid()) return waits;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    const std::uint32_t detail = trace.slices.detail[row];
    if (trace.kind(slice) != SliceKind::sync || detail == SliceId::kNone) continue;
    if (trace.syncs.kind[detail] == kind) waits.push_back(slice);
  }
  return waits;
}

/// When the calls of these correlation ids began; Time::min() for those that are not in the trace.
std::unordered_map<std::int64_t, Time> times_of_calls(const Trace& trace,
                                                      const std::vector<SliceId>& waits) {
  std::unordered_map<std::int64_t, Time> times;
  for (const SliceId wait : waits) {
    times.emplace(trace.syncs.wait_correlation[trace.slices.detail[wait.row()]], Time::min());
  }
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceKind kind = trace.kind(SliceId(row));
    if (!is_runtime_call(kind)) continue;
    const auto at = times.find(trace.slices.correlation[row]);
    if (at != times.end()) at->second = trace.slices.start[row];
  }
  return times;
}

std::unordered_map<std::int64_t, std::vector<Work>> work_by_stream(const Context& context) {
  const Trace& trace = context.trace;
  std::unordered_map<std::int64_t, std::vector<Work>> streams;
  for (const SliceId activity : context.links().activities) {
    const SliceId launch = context.links().launch[activity.row()];
    if (!launch.valid()) continue;
    streams[trace.track(activity).stream].push_back(
        {trace.slices.start[launch.row()], trace.slices.end(activity)});
  }
  for (auto& [number, work] : streams) {
    std::ranges::stable_sort(work, {}, &Work::launched);
    for (std::size_t i = 1; i < work.size(); ++i)
      work[i].end = std::max(work[i].end, work[i - 1].end);
  }
  return streams;
}

}  // namespace

Duration median_launch_delay(const Context& context) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  std::vector<Time> free(trace.tracks.size(), Time::min());  // by track
  std::vector<Duration> delays;
  SliceId before;
  for (const SliceId activity : links.activities) {
    const Time start = trace.slices.start[activity.row()];
    const SliceId launch = links.launch[activity.row()];
    Time& stream = free[trace.slices.track[activity.row()].row()];
    if (launch.valid() && launch != before) {
      const Time launched = trace.slices.start[launch.row()];
      if (stream <= launched && launched <= start) delays.push_back(start - launched);
    }
    before = launch;
    stream = std::max(stream, trace.slices.end(activity));
  }
  if (delays.empty()) return {};
  const auto middle = delays.begin() + static_cast<std::ptrdiff_t>((delays.size() - 1) / 2);
  std::ranges::nth_element(delays, middle);
  return *middle <= kLongestLaunch ? *middle : Duration{};
}

EventWaits::EventWaits(const Context& context) {
  const Trace& trace = context.trace;
  const std::vector<SliceId> waits = stream_waits(trace);
  if (waits.empty()) return;
  const auto times = times_of_calls(trace, waits);
  const auto work = work_by_stream(context);
  for (const SliceId wait : waits) {
    const std::uint32_t detail = trace.slices.detail[wait.row()];
    const Time recorded = times.at(trace.syncs.wait_correlation[detail]);
    Time ready = Time::max();
    const auto stream = work.find(trace.syncs.wait_stream[detail]);
    if (recorded != Time::min() && stream != work.end()) {
      // Nothing was launched before the event: nothing to wait for.
      const auto after = std::ranges::lower_bound(stream->second, recorded, {}, &Work::launched);
      ready = after == stream->second.begin() ? Time::min() : std::prev(after)->end;
    }
    streams_[trace.slices.track[wait.row()].value].push_back(
        {trace.slices.start[wait.row()], ready});
  }
  for (auto& [track, queue] : streams_) std::ranges::stable_sort(queue, {}, &Wait::at);
}

std::optional<Time> EventWaits::ready(TrackId stream, Interval between_launches) const {
  const auto queue = streams_.find(stream.value);
  if (queue == streams_.end()) return {};
  std::optional<Time> ready;
  auto wait = std::ranges::lower_bound(queue->second, between_launches.begin, {}, &Wait::at);
  for (; wait != queue->second.end() && wait->at < between_launches.end; ++wait) {
    ready = std::max(ready.value_or(Time::min()), wait->ready);
  }
  return ready;
}

Time last_busy_peer(const Timelines& timelines, std::int32_t device, Interval window) {
  Time last = window.begin;
  for (const DeviceTimeline& timeline : timelines.devices) {
    if (timeline.device == device) continue;
    const Interval active = active_span(timeline, window);
    if (active.begin < active.end) last = std::max(last, active.end);
  }
  return last;
}

bool needs_peer(const Context& context, SliceId activity) {
  const Trace& trace = context.trace;
  if (trace.kind(activity) == SliceKind::memcpy) {
    const std::uint32_t copy = trace.slices.detail[activity.row()];
    return copy != SliceId::kNone && trace.copies.kind[copy] == CopyKind::p2p;
  }
  return context.timelines().busy_kind(trace, activity) == Busy::communication;
}

}  // namespace fathom
