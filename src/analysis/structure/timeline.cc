// Folds device activities into per-kind unions, and those into exclusive segments.
#include "analysis/structure/timeline.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/structure/vendor.h"
#include "base/parallel.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, kBusyKinds> kNames = {"compute", "communication", "memcpy",
                                                             "memset", "idle"};

using Unions = std::array<std::vector<Interval>, kBusyKinds - 1>;

/// The distinct names of kernels, each once.
std::vector<StringId> kernel_names(const Trace& trace, const Links& links) {
  std::vector<StringId> names;
  std::vector<bool> seen(trace.strings.size());
  for (const SliceId activity : links.activities) {
    if (trace.kind(activity) != SliceKind::kernel) continue;
    const StringId name = trace.slices.name[activity.row()];
    if (seen[name.row()]) continue;
    seen[name.row()] = true;
    names.push_back(name);
  }
  return names;
}

std::vector<KernelTraits> classify_names(const Trace& trace, const Links& links) {
  constexpr std::size_t kPiece = 2048;  // about 2 ms of work
  std::vector<KernelTraits> traits(trace.strings.size());
  const std::vector<StringId> names = kernel_names(trace, links);
  for_each_in_parallel((names.size() + kPiece - 1) / kPiece, 0, [&](std::size_t piece) {
    const std::size_t end = std::min(names.size(), (piece + 1) * kPiece);
    for (std::size_t i = piece * kPiece; i < end; ++i)
      traits[names[i].row()] = classify_kernel(trace.text(names[i]));
  });
  return traits;
}

/// Adds an interval that starts no earlier than those before it.
void extend(std::vector<Interval>& merged, Interval next) {
  if (next.begin == next.end) return;
  if (!merged.empty() && next.begin <= merged.back().end) {
    merged.back().end = std::max(merged.back().end, next.end);
  } else {
    merged.push_back(next);
  }
}

void add_segment(std::vector<DeviceTimeline::Segment>& segments, Interval interval, Busy busy) {
  if (!segments.empty() && segments.back().busy == busy &&
      segments.back().interval.end == interval.begin) {
    segments.back().interval.end = interval.end;
  } else {
    segments.push_back({.interval = interval, .busy = busy});
  }
}

/// What runs at one instant and until when that answer holds.
struct Instant {
  Busy busy = Busy::idle;
  Time until = Time::max();
};

/// Moves each kind's cursor past what ended by `now`; the first kind that is running wins, until it
/// ends or a stronger one begins.
Instant look(const Unions& unions, std::array<std::size_t, kBusyKinds - 1>& cursors, Time now) {
  Instant instant;
  for (std::size_t kind = 0; kind < unions.size(); ++kind) {
    const std::vector<Interval>& intervals = unions[kind];
    std::size_t& at = cursors[kind];
    while (at < intervals.size() && intervals[at].end <= now) ++at;
    if (at == intervals.size()) continue;
    if (intervals[at].begin <= now) {
      instant.until = std::min(instant.until, intervals[at].end);
      instant.busy = static_cast<Busy>(kind);
      break;
    }
    instant.until = std::min(instant.until, intervals[at].begin);
  }
  return instant;
}

std::vector<DeviceTimeline::Segment> exclusive_segments(const Unions& unions) {
  std::vector<DeviceTimeline::Segment> segments;
  std::size_t most = 0;
  for (const std::vector<Interval>& intervals : unions) most += 2 * intervals.size();
  segments.reserve(most);  // what is not written to takes no memory
  std::array<std::size_t, kBusyKinds - 1> cursors{};
  for (Time now = Time::min();;) {
    const Instant instant = look(unions, cursors, now);
    if (instant.until == Time::max()) return segments;
    if (instant.busy != Busy::idle) add_segment(segments, {now, instant.until}, instant.busy);
    now = instant.until;
  }
}

/// The overlap of `window` with sorted disjoint intervals; `get` takes the interval of an element.
template <typename T, typename Get, typename Visit>
void visit_overlaps(const std::vector<T>& sorted, Interval window, Get get, Visit visit) {
  const auto ends_by = [&](const T& element) { return get(element).end <= window.begin; };
  auto at = std::ranges::partition_point(sorted, ends_by);
  for (; at != sorted.end() && get(*at).begin < window.end; ++at) {
    const Time begin = std::max(get(*at).begin, window.begin);
    visit(*at, std::min(get(*at).end, window.end) - begin);
  }
}

}  // namespace

std::string_view to_string(Busy busy) { return kNames[static_cast<std::size_t>(busy)]; }

BusyTime& BusyTime::operator+=(const BusyTime& other) {
  for (std::size_t kind = 0; kind < kBusyKinds; ++kind) {
    exclusive[kind] += other.exclusive[kind];
    total[kind] += other.total[kind];
  }
  return *this;
}

Busy Timelines::busy_kind(const Trace& trace, SliceId activity) const {
  switch (trace.kind(activity)) {
    case SliceKind::memcpy:
      return Busy::memcpy;
    case SliceKind::memset:
      return Busy::memset;
    default:
      break;
  }
  if (is_dma_request(trace.name(activity))) return Busy::memcpy;
  const KernelClass kernel_class = traits_of(trace, activity).kernel_class;
  return kernel_class == KernelClass::communication ? Busy::communication : Busy::compute;
}

const DeviceTimeline* Timelines::find(std::int32_t device) const {
  const auto at = std::ranges::lower_bound(devices, device, {}, &DeviceTimeline::device);
  return at == devices.end() || at->device != device ? nullptr : &*at;
}

Timelines compute_timelines(const Trace& trace, const Links& links) {
  Timelines result;
  result.traits = classify_names(trace, links);

  std::set<std::int32_t> used;
  std::optional<std::int32_t> last;
  for (const SliceId activity : links.activities) {
    const std::int32_t device = trace.track(activity).device;
    if (device == last || is_stream_wait(trace.name(activity))) continue;
    used.insert(device);
    last = device;
  }
  const std::vector<std::int32_t> numbers(used.begin(), used.end());
  result.devices.resize(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) result.devices[i].device = numbers[i];

  for (const SliceId activity : links.activities) {
    const std::int32_t device = trace.track(activity).device;
    if (is_stream_wait(trace.name(activity))) continue;
    DeviceTimeline& timeline =
        *std::ranges::lower_bound(result.devices, device, {}, &DeviceTimeline::device);
    const Interval interval{trace.slices.start[activity.row()], trace.slices.end(activity)};
    if (timeline.activities.empty()) timeline.span = interval;
    timeline.span.end = std::max(timeline.span.end, interval.end);
    timeline.activities.push_back(activity);
    const Busy kind = result.busy_kind(trace, activity);
    extend(timeline.unions[static_cast<std::size_t>(kind)], interval);
  }
  for (DeviceTimeline& timeline : result.devices) {
    timeline.segments = exclusive_segments(timeline.unions);
  }
  return result;
}

BusyTime busy_time(const DeviceTimeline& timeline, Interval window) {
  BusyTime time;
  using Segment = DeviceTimeline::Segment;
  visit_overlaps(
      timeline.segments, window, [](const Segment& segment) { return segment.interval; },
      [&](const Segment& segment, Duration length) {
        time.exclusive[static_cast<std::size_t>(segment.busy)] += length;
      });
  for (std::size_t kind = 0; kind < timeline.unions.size(); ++kind) {
    visit_overlaps(
        timeline.unions[kind], window, [](const Interval& interval) { return interval; },
        [&](const Interval&, Duration length) { time.total[kind] += length; });
  }
  const Duration idle = window.length() - time.busy();
  time.exclusive.back() = time.total.back() = idle;
  return time;
}

Interval active_span(const DeviceTimeline& timeline, Interval window) {
  // Activities of 0 ns are in the span, but in no segment.
  if (window.begin <= timeline.span.begin && timeline.span.end <= window.end) return timeline.span;
  const Time begin = next_busy(timeline, window.begin);
  if (begin >= window.end) return {window.begin, window.begin};
  const auto starts_before = [window](const DeviceTimeline::Segment& segment) {
    return segment.interval.begin < window.end;
  };
  const auto last = std::prev(std::ranges::partition_point(timeline.segments, starts_before));
  return {begin, std::min(last->interval.end, window.end)};
}

Time next_busy(const DeviceTimeline& timeline, Time from) {
  const auto ended = [from](const DeviceTimeline::Segment& segment) {
    return segment.interval.end <= from;
  };
  const auto at = std::ranges::partition_point(timeline.segments, ended);
  return at == timeline.segments.end() ? Time::max() : std::max(from, at->interval.begin);
}

}  // namespace fathom
