// Builds the indexes that go against the direction in which links are recorded.
#include "analysis/timeline/slice_links.h"

#include <algorithm>
#include <tuple>

#include "analysis/structure/phases.h"

namespace fathom {
namespace {

std::vector<const Nesting::Thread*> by_track(const Trace& trace,
                                             const std::vector<Nesting::Thread>& threads) {
  std::vector<const Nesting::Thread*> found(trace.tracks.size(), nullptr);
  for (const Nesting::Thread& thread : threads) found[thread.track.row()] = &thread;
  return found;
}

}  // namespace

SliceLinks::SliceLinks(const Context& context)
    : context_(context),
      trace_(context.trace),
      forward_(context.trace),
      work_(by_track(trace_, context.nesting().work)),
      frames_(by_track(trace_, context.nesting().frames)) {
  const Links& links = context.links();
  for (const SliceId activity : links.activities) {
    if (links.launch[activity.row()].valid()) launched_.push_back(activity);
  }
  std::ranges::stable_sort(launched_, {}, [&](SliceId activity) {
    const SliceId launch = links.launch[activity.row()];
    return std::tuple(trace_.slices.track[launch.row()], trace_.slices.start[launch.row()]);
  });
  for (const Nesting::Thread& thread : context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      if (trace_.kind(slice) != SliceKind::cpu_op || !sequence_of(trace_, slice).is_backward())
        continue;
      const SliceId forward = forward_.of(slice);
      if (forward.valid()) backward_.emplace(forward.value, slice);
    }
  }
}

LinksOfSlice SliceLinks::of(SliceId slice, std::size_t most) const {
  LinksOfSlice links;
  const SliceKind kind = trace_.kind(slice);
  links.parent = context_.nesting().parent[slice.row()];
  SliceId host = slice;
  if (is_device_activity(kind)) {
    links.launch = context_.links().launch[slice.row()];
    links.op = context_.links().op[slice.row()];
    host = links.launch.valid() ? links.launch : links.op;
  } else if (is_host_work(kind)) {
    links.op = enclosing_op(trace_, context_.nesting(), slice);
    if (links.op == slice) links.op = {};
    find_activities(slice, most, links);
  }
  if (host.valid()) find_frames(host, links);
  if (kind != SliceKind::cpu_op) return links;
  if (sequence_of(trace_, slice).is_backward()) links.forward = forward_.of(slice);
  const auto [first, last] = backward_.equal_range(slice.value);
  for (auto at = first; at != last && links.backward.size() < most; ++at)
    links.backward.push_back(at->second);
  std::ranges::sort(links.backward);
  return links;
}

void SliceLinks::find_frames(SliceId host, LinksOfSlice& links) const {
  const Nesting& nesting = context_.nesting();
  if (trace_.kind(host) == SliceKind::python_function) {
    links.frame = nesting.parent[host.row()];
  } else if (const Nesting::Thread* const frames = frames_[trace_.slices.track[host.row()].row()]) {
    links.frame = innermost_at(trace_, nesting, *frames, trace_.slices.start[host.row()],
                               trace_.slices.end(host));
  }
  links.module = links.frame;
  while (links.module.valid() && !is_module_frame(trace_.name(links.module)))
    links.module = nesting.parent[links.module.row()];
}

void SliceLinks::find_activities(SliceId host, std::size_t most, LinksOfSlice& links) const {
  const ActivityColumn<SliceId>& launch = context_.links().launch;
  const TrackId track = trace_.slices.track[host.row()];
  const auto key = [&](SliceId activity) {
    const SliceId call = launch[activity.row()];
    return std::pair(trace_.slices.track[call.row()], trace_.slices.start[call.row()]);
  };
  const auto first = std::ranges::lower_bound(
      launched_, std::pair(track, trace_.slices.start[host.row()]), {}, key);
  const auto last =
      std::ranges::upper_bound(launched_, std::pair(track, trace_.slices.end(host)), {}, key);
  for (auto at = first; at < last; ++at) {
    // Of calls at its very begin or end, some lie beside it.
    const SliceId call = launch[at->row()];
    if (trace_.slices.end(call) > trace_.slices.end(host)) continue;
    if (is_runtime_call(trace_.kind(host)) && call != host) continue;
    ++links.activities_total;
    if (links.activities.size() < most) links.activities.push_back(*at);
  }
}

SameName SliceLinks::same_name(SliceId slice) const {
  SameName same;
  const Slices& slices = trace_.slices;
  const StringId name = slices.name[slice.row()];
  const TrackId track = slices.track[slice.row()];
  const auto key = [&slices](SliceId id) { return std::pair(slices.start[id.row()], id); };
  for (std::size_t row = 0; row < slices.size(); ++row) {
    if (slices.name[row] != name) continue;
    const SliceId other(row);
    ++same.count;
    same.total += slices.duration[row];
    if (!same.slowest.valid() || slices.duration[row] > slices.duration[same.slowest.row()])
      same.slowest = other;
    if (slices.track[row] != track || other == slice) continue;
    if (key(other) < key(slice)) {
      if (!same.previous.valid() || key(same.previous) < key(other)) same.previous = other;
    } else if (!same.next.valid() || key(other) < key(same.next)) {
      same.next = other;
    }
  }
  return same;
}

Duration SliceLinks::self_time(SliceId slice) const {
  const Slices& slices = trace_.slices;
  Duration self = slices.duration[slice.row()];
  const SliceKind kind = trace_.kind(slice);
  const auto& threads = kind == SliceKind::python_function ? frames_ : work_;
  const Nesting::Thread* const thread = threads[slices.track[slice.row()].row()];
  if (thread == nullptr || is_device_activity(kind)) return self;
  const auto start_of = [&slices](SliceId id) { return slices.start[id.row()]; };
  auto at = std::ranges::lower_bound(thread->slices, start_of(slice), {}, start_of);
  for (; at != thread->slices.end() && start_of(*at) < slices.end(slice); ++at) {
    if (context_.nesting().parent[at->row()] == slice) self -= slices.duration[at->row()];
  }
  return self;
}

}  // namespace fathom
