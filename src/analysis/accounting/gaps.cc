// Finds the gaps of a device and asks the host threads, and what is known of waits, about each.
#include "analysis/accounting/gaps.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analysis/structure/vendor.h"

namespace fathom {
namespace {

/// The first recorded work of a device that waits longer after its launch waits for what was
/// launched before the recording.
constexpr Duration kLongDelay = duration_ns(1'000'000);

/// Stretches of host work that gaps may be explained by, for each slice of the trace. Devices that
/// one thread launches to are all idle while it does anything, and each is explained by all of it:
/// by a call and by what follows it. So thirty-two devices of one thread are explained whole.
constexpr std::size_t kStretchesPerSlice = 64;

}  // namespace

GapFinder::GapFinder(const Context& context, const HostThreads& threads, const EventWaits& waits,
                     const OneOffWork& one_off, Duration launch_delay)
    : context_(context),
      trace_(context.trace),
      threads_(threads),
      waits_(waits),
      one_off_(one_off),
      launch_delay_(launch_delay),
      ops_(trace_, context.nesting()),
      stretches_left_(kStretchesPerSlice * trace_.slices.size()),
      launched_(trace_.tracks.size()),
      launches_(trace_.tracks.size()) {
  for (const DeviceTimeline& timeline : context.timelines().devices) {
    for (const SliceId activity : timeline.activities) {
      recorded_.begin = std::min(recorded_.begin, trace_.slices.start[activity.row()]);
      recorded_.end = std::max(recorded_.end, trace_.slices.end(activity));
    }
  }
  walks_.reserve(trace_.tracks.size());
  for (std::size_t track = 0; track < trace_.tracks.size(); ++track) {
    walks_.emplace_back(trace_, context.nesting(), threads, TrackId(track));
  }
}

DeviceAccounting GapFinder::find(const DeviceTimeline& timeline) {
  start_device(timeline);
  Time busy_until = trace_.span.begin;
  for (const SliceId activity : timeline.activities) {
    const Time start = trace_.slices.start[activity.row()];
    if (start > busy_until) add_gap({busy_until, start}, activity);
    busy_until = std::max(busy_until, trace_.slices.end(activity));
    const SliceId launch = context_.links().launch[activity.row()];
    if (!launch.valid()) continue;
    launched_[trace_.slices.track[activity.row()].row()] = trace_.slices.start[launch.row()];
  }
  if (busy_until < trace_.span.end) add_gap({busy_until, trace_.span.end}, {});
  return std::exchange(result_, {});
}

/// Who leads and who helps, by how much each thread launches.
void GapFinder::start_device(const DeviceTimeline& timeline) {
  result_.device = timeline.device;
  std::vector<TrackId> launching;
  for (const SliceId activity : timeline.activities) {
    launched_[trace_.slices.track[activity.row()].row()] = Time::min();
    const SliceId launch = context_.links().launch[activity.row()];
    if (!launch.valid()) continue;
    const TrackId track = trace_.slices.track[launch.row()];
    if (launches_[track.row()]++ == 0) launching.push_back(track);
  }
  main_ = threads_.main();
  feeder_ = {};
  if (launching.empty()) return;
  const auto launches = [this](TrackId track) { return launches_[track.row()]; };
  std::ranges::sort(launching);
  const TrackId most = *std::ranges::max_element(launching, {}, launches);
  const StringId process = trace_.tracks[most.row()].process;
  main_ = threads_.main_of(process);
  for (const TrackId track : launching) {
    if (track == main_ || trace_.tracks[track.row()].process != process) continue;
    if (!feeder_.valid() || launches(track) > launches(feeder_)) feeder_ = track;
  }
  for (const TrackId track : launching) launches_[track.row()] = 0;
}

GapFinder::Hosts GapFinder::hosts_of(SliceId launch) const {
  if (!launch.valid()) return {main_, feeder_};
  const TrackId track = trace_.slices.track[launch.row()];
  const TrackId main = threads_.main_of(trace_.tracks[track.row()].process);
  if (track != main) return {track, main};
  return {track, track == main_ ? feeder_ : TrackId()};
}

void GapFinder::add_gap(Interval interval, SliceId next) {
  Gap gap{.device = result_.device, .interval = interval, .next = next};
  if (next.valid()) gap.launch = context_.links().launch[next.row()];
  first_piece_ = result_.pieces.size();
  late_ = {};
  const Hosts hosts = hosts_of(gap.launch);
  hosts_ = hosts;
  gap.opener = opener_of(hosts, gap, gap.opener_call);
  // Nothing launches what a device's copy engine does: its main thread says what it waited for.
  const bool named = gap.launch.valid() || (next.valid() && is_dma_request(trace_.name(next)));
  const bool unknown = next.valid() ? !named : !hosts.first.valid();
  const bool unasked = !unknown && stretches_left_ == 0;
  if (unasked) ++result_.unasked_gaps;
  if (unknown || unasked) {
    add_piece(interval, Bucket::host_unknown);
  } else if (gap.launch.valid() && runs_earlier_work(gap)) {
    add_piece(interval, Bucket::device_wait);
  } else {
    const Time launched = gap.launch.valid() ? trace_.slices.start[gap.launch.row()] : interval.end;
    const Time explained = std::clamp(launched, interval.begin, interval.end);
    explain_host(hosts, {interval.begin, explained});
    explain_device({explained, interval.end}, launched, next);
  }
  finish(gap, hosts);
  result_.gaps.push_back(gap);
}

bool GapFinder::runs_earlier_work(const Gap& gap) const {
  if (!result_.gaps.empty() || gap.interval.begin != trace_.span.begin) return false;
  const Duration waited = trace_.slices.start[gap.next.row()] - trace_.slices.end(gap.launch);
  return waited > kLongDelay;
}

Opener GapFinder::opener_of(const Hosts& hosts, const Gap& gap, SliceId& call) {
  const Time begin = gap.interval.begin;
  if (result_.gaps.empty() && begin == trace_.span.begin) return Opener::start;
  if (gap.next.valid() && !gap.launch.valid()) return Opener::unknown;
  const Time launched = gap.launch.valid() ? trace_.slices.start[gap.launch.row()] : Time::max();
  if (launched <= begin) return Opener::waiting;
  for (const TrackId track : {hosts.first, hosts.second}) {
    if (!track.valid()) continue;
    const SliceId sync = threads_.sync_around(walk(track).last_before(begin), begin);
    if (!sync.valid() || trace_.slices.end(sync) > launched) continue;
    call = sync;
    return Opener::sync_call;
  }
  return Opener::ran_dry;
}

void GapFinder::explain_host(const Hosts& hosts, Interval interval) {
  const auto add = [this](Interval stretch, Bucket state, SliceId) {
    if (stretches_left_ > 0) --stretches_left_;
    add_host_piece(stretch, state);
  };
  const auto ask = [&](Interval stretch, Bucket state, SliceId innermost) {
    if (state == Bucket::python && hosts.second.valid()) {
      walk(hosts.second).visit(stretch, late_, add);
    } else {
      add(stretch, state, innermost);
    }
  };
  walk(hosts.first).visit(interval, late_, ask);
}

void GapFinder::add_host_piece(Interval interval, Bucket state) {
  if (state != Bucket::sync) return add_piece(interval, state);
  const Time first = std::clamp(recorded_.begin, interval.begin, interval.end);
  const Time last = std::clamp(recorded_.end, first, interval.end);
  add_piece({interval.begin, first}, Bucket::host_unknown);
  add_piece({first, last}, state);
  add_piece({last, interval.end}, Bucket::host_unknown);
}

void GapFinder::explain_device(Interval interval, Time launched, SliceId next) {
  if (interval.begin == interval.end) return;
  const auto clamped = [interval](Time at) { return std::clamp(at, interval.begin, interval.end); };
  const TrackId stream = trace_.slices.track[next.row()];
  const std::optional<Time> event = waits_.ready(stream, {launched_[stream.row()], launched});
  Time ready = clamped(event.value_or(interval.begin));
  if (needs_peer(context_, next)) {
    ready = std::max(ready, last_busy_peer(context_.timelines(), result_.device, interval));
  }
  // What was waited for holds for as long as the device takes to notice: about a launch.
  const bool queued = launched < interval.begin;
  const Time noticed = clamped(ready + launch_delay_);
  if (ready > interval.begin) {
    add_piece({interval.begin, noticed}, Bucket::dependency);
    add_piece({noticed, interval.end}, Bucket::device_wait);
    return;
  }
  const Time latency = clamped(launched + launch_delay_);
  // It was queued while the device was busy: with what was before it on its stream or on another.
  const Time turned = queued ? std::max(latency, noticed) : latency;
  add_piece({interval.begin, latency}, Bucket::launch_latency);
  add_piece({latency, turned}, Bucket::dependency);
  add_piece({turned, interval.end}, Bucket::device_wait);
}

void GapFinder::add_piece(Interval interval, Bucket cause) {
  one_off_.cut(hosts_.first, interval, [&](Interval part, bool once) {
    if (once) {
      add_part(part, Bucket::warm_up);
      return;
    }
    one_off_.cut(hosts_.second, part, [&](Interval rest, bool second_once) {
      add_part(rest, second_once ? Bucket::warm_up : cause);
    });
  });
}

void GapFinder::add_part(Interval interval, Bucket cause) {
  if (interval.begin == interval.end) return;
  Column<IdlePiece>& pieces = result_.pieces;
  if (pieces.size() > first_piece_ && pieces.back().cause == cause) {
    pieces.back().interval.end = interval.end;
    return;
  }
  const auto gap = static_cast<std::uint32_t>(result_.gaps.size());
  pieces.push_back({.interval = interval, .cause = cause, .gap = gap});
}

Interval GapFinder::longest_piece(Bucket cause) const {
  Interval longest{};
  for (std::size_t i = first_piece_; i < result_.pieces.size(); ++i) {
    const IdlePiece& piece = result_.pieces[i];
    if (piece.cause == cause && piece.interval.length() > longest.length())
      longest = piece.interval;
  }
  return longest;
}

SliceId GapFinder::frame_of(const Nesting::Thread& frames, Interval stretch) const {
  const Nesting& nesting = context_.nesting();
  const Time middle = stretch.begin + stretch.length() / 2;
  const SliceId frame = innermost_at(trace_, nesting, frames, middle, middle);
  const auto most = [&](SliceId slice) {
    const Time begin = std::max(stretch.begin, trace_.slices.start[slice.row()]);
    const Time end = std::min(stretch.end, trace_.slices.end(slice));
    return (end - begin) * 2 >= stretch.length();
  };
  return innermost_holding(nesting, frame, most);
}

void GapFinder::finish(Gap& gap, const Hosts& hosts) {
  std::array<Duration, kBuckets> times{};
  for (std::size_t i = first_piece_; i < result_.pieces.size(); ++i) {
    times[static_cast<std::size_t>(result_.pieces[i].cause)] += result_.pieces[i].interval.length();
  }
  gap.cause = static_cast<Bucket>(std::ranges::max_element(times) - times.begin());
  gap.late_op = late_.op;
  if (!gap.late_op.valid() && gap.launch.valid()) {
    gap.late_op = ops_.of(gap.launch);
  }
  const bool host = gap.cause <= Bucket::python || gap.cause == Bucket::warm_up;
  if (!host && !gap.launch.valid()) return;
  const Interval asked =
      host ? longest_piece(gap.cause)
           : Interval{trace_.slices.start[gap.launch.row()], trace_.slices.end(gap.launch)};
  for (const TrackId track : {hosts.first, hosts.second}) {
    if (!track.valid() || threads_.frames(track) == nullptr) continue;
    gap.late_frame = frame_of(*threads_.frames(track), asked);
    if (gap.late_frame.valid()) return;
  }
}

}  // namespace fathom
