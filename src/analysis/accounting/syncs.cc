// Finds synchronising calls and looks at what the device did after each.
#include "analysis/accounting/syncs.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/structure/enclosing_ops.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, 4> kReasons = {"synchronize", "blocking copy",
                                                      "blocking fill", "pageable copy"};

/// Did the call wait until earlier work of the stream, which ran `until`, was done and its copy had
/// started? Small copies from pageable memory return before that.
bool waited_for_turn(const Trace& trace, SliceId call, SliceId copy, Time until) {
  return until > trace.slices.start[call.row()] &&
         trace.slices.start[copy.row()] < trace.slices.end(call);
}

/// Calls that started a copy of pageable host memory and wait, by slice.
std::vector<bool> pageable_copies(const Trace& trace, const Links& links) {
  std::vector<bool> result(trace.slices.size());
  std::vector<Time> busy(trace.tracks.size(), Time::min());  // by track: until when
  for (const SliceId activity : links.activities) {
    Time& until = busy[trace.slices.track[activity.row()].row()];
    const Time before = until;
    until = std::max(until, trace.slices.end(activity));
    if (trace.kind(activity) != SliceKind::memcpy) continue;
    const std::uint32_t copy = trace.slices.detail[activity.row()];
    const SliceId launch = links.launch[activity.row()];
    if (copy == SliceId::kNone || !launch.valid()) continue;
    // One call may start many copies (batches, graphs): one that waits is enough.
    const bool down = trace.copies.kind[copy] == CopyKind::d2h &&
                      trace.copies.destination[copy] == MemoryKind::pageable;
    const bool up = trace.copies.kind[copy] == CopyKind::h2d &&
                    trace.copies.source[copy] == MemoryKind::pageable;
    if (down || (up && waited_for_turn(trace, launch, activity, before))) {
      result[launch.row()] = true;
    }
  }
  return result;
}

/// Which device each thread launched onto, over time.
class LaunchDevices {
 public:
  LaunchDevices(const Trace& trace, const Timelines& timelines, const Links& links)
      : threads_(trace.tracks.size()) {
    if (timelines.devices.size() == 1) only_ = timelines.devices.front().device;
    if (timelines.devices.size() < 2) return;
    for (const SliceId activity : links.activities) {
      const SliceId launch = links.launch[activity.row()];
      if (!launch.valid()) continue;
      threads_[trace.slices.track[launch.row()].row()].push_back(
          {trace.slices.start[launch.row()], trace.track(activity).device});
    }
    for (std::vector<Launch>& thread : threads_) std::ranges::stable_sort(thread, {}, &Launch::at);
  }
  /// Where `thread` launched last, by the time `at` inclusive.
  [[nodiscard]] std::optional<std::int32_t> last(TrackId thread, Time at) const {
    if (only_) return only_;
    const std::vector<Launch>& launches = threads_[thread.row()];
    const auto after = std::ranges::upper_bound(launches, at, {}, &Launch::at);
    if (after == launches.begin()) return {};
    return std::prev(after)->device;
  }

 private:
  struct Launch {
    Time at;
    std::int32_t device;
  };
  std::optional<std::int32_t> only_;
  std::vector<std::vector<Launch>> threads_;  // by track
};

/// The threads of a forest, by track.
std::vector<const Nesting::Thread*> by_track(const Trace& trace,
                                             const std::vector<Nesting::Thread>& threads) {
  std::vector<const Nesting::Thread*> result(trace.tracks.size(), nullptr);
  for (const Nesting::Thread& thread : threads) result[thread.track.row()] = &thread;
  return result;
}

/// Fills idle_after; `syncs` by start time, so the next about the same device is met first going
/// backwards.
void measure_idle(const Trace& trace, const Timelines& timelines, std::vector<SyncCall>& syncs) {
  std::map<std::int32_t, Time> next_sync;
  for (auto sync = syncs.rbegin(); sync != syncs.rend(); ++sync) {
    if (!sync->device) continue;
    Time& next = next_sync.try_emplace(*sync->device, Time::max()).first->second;
    const DeviceTimeline* const timeline = timelines.find(*sync->device);
    const Time end = trace.slices.end(sync->call);
    const Time busy = timeline == nullptr ? Time::max() : next_busy(*timeline, end);
    if (busy != Time::max()) sync->idle_after = std::max(Duration{}, std::min(busy, next) - end);
    next = std::min(next, trace.slices.start[sync->call.row()]);
  }
}

}  // namespace

std::string_view to_string(SyncReason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

SyncReasons::SyncReasons(const Trace& trace, const Links& links)
    : trace_(trace), links_(links), pageable_(pageable_copies(trace, links)) {}

std::optional<SyncReason> SyncReasons::of(SliceId call) const {
  switch (links_.call_kind(trace_, call)) {
    case CallKind::synchronize:
      return SyncReason::synchronize;
    case CallKind::copy_blocking:
      return SyncReason::blocking_copy;
    case CallKind::fill_blocking:
      return SyncReason::blocking_fill;
    case CallKind::copy:
      break;
    default:
      return {};
  }
  if (pageable_[call.row()]) return SyncReason::pageable_copy;
  return {};
}

std::vector<SyncCall> compute_syncs(const Context& context) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  const Nesting& nesting = context.nesting();
  const SyncReasons reasons(trace, links);
  const LaunchDevices devices(trace, context.timelines(), links);
  const std::vector<const Nesting::Thread*> frames = by_track(trace, nesting.frames);
  const EnclosingOps ops(trace, nesting);
  std::vector<SyncCall> syncs;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId call(row);
    const SliceKind kind = trace.kind(call);
    if (!is_runtime_call(kind)) continue;
    const std::optional<SyncReason> reason = reasons.of(call);
    if (!reason) continue;
    const TrackId track = trace.slices.track[row];
    const Time start = trace.slices.start[row];
    SyncCall sync{.call = call, .reason = *reason, .op = ops.of(call)};
    if (const Nesting::Thread* const thread = frames[track.row()]) {
      sync.frame = innermost_at(trace, nesting, *thread, start, trace.slices.end(call));
    }
    sync.device = devices.last(track, start);
    syncs.push_back(sync);
  }
  std::ranges::stable_sort(
      syncs, {}, [&](const SyncCall& sync) { return trace.slices.start[sync.call.row()]; });
  measure_idle(trace, context.timelines(), syncs);
  return syncs;
}

}  // namespace fathom
