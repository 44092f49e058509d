// Computes the call forests: one partition of the slices by thread, one stack walk per thread.
#include "analysis/structure/nesting.h"

#include <algorithm>
#include <array>

#include "analysis/util/row_order.h"
#include "base/parallel.h"

namespace fathom {
namespace {

enum class Forest : std::uint8_t { work, frames, rest, none };
constexpr std::uint32_t kForests = 3;  // none is not one

Forest forest_of(SliceKind kind) {
  if (is_host_work(kind)) return Forest::work;
  if (kind == SliceKind::python_function) return Forest::frames;
  const bool projected = kind == SliceKind::gpu_user_annotation || kind == SliceKind::sync;
  return is_device_activity(kind) || projected ? Forest::none : Forest::rest;
}

/// The slices of one forest on one thread, in the order of the file at first.
struct Group {
  Forest forest = Forest::work;
  Nesting::Thread thread;
  std::uint64_t overlaps = 0;
  SliceId first_overlap{};
};

std::array<Forest, 256> forests_by_category(const Trace& trace) {
  std::array<Forest, 256> forests{};
  for (std::size_t i = 0; i < trace.categories.size(); ++i) {
    forests[i] = forest_of(trace.categories[i].kind);
  }
  return forests;
}

/// Calls visit(row, track * kForests + forest) for every slice that nests, in the order of the
/// file.
template <typename Visit>
void for_each_nesting_slice(const Trace& trace, const Visit& visit) {
  const std::array<Forest, 256> forests = forests_by_category(trace);
  std::vector<std::uint8_t> host(trace.tracks.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    host[i] = trace.tracks[i].kind == TrackKind::host_thread ? 1 : 0;
  }
  const Slices& slices = trace.slices;
  for (std::size_t row = 0; row < slices.size(); ++row) {
    const Forest forest = forests[slices.category[row]];
    const std::size_t track = slices.track[row].row();
    if (forest != Forest::none && host[track] != 0)
      visit(row, track * kForests + static_cast<std::uint32_t>(forest));
  }
}

std::vector<Group> partition(const Trace& trace) {
  std::vector<std::uint32_t> counts(trace.tracks.size() * kForests);
  for_each_nesting_slice(trace, [&](std::size_t, std::size_t key) { ++counts[key]; });
  std::vector<Group> groups;
  std::vector<std::uint32_t> group_of(counts.size());
  for (std::size_t key = 0; key < counts.size(); ++key) {
    if (counts[key] == 0) continue;
    group_of[key] = static_cast<std::uint32_t>(groups.size());
    Group group{.forest = static_cast<Forest>(key % kForests),
                .thread = {.track = TrackId(key / kForests), .slices = {}}};
    group.thread.slices.reserve(counts[key]);
    groups.push_back(std::move(group));
  }
  for_each_nesting_slice(trace, [&](std::size_t row, std::size_t key) {
    groups[group_of[key]].thread.slices.push_back(SliceId(row));
  });
  return groups;
}

/// A slice that is open.
struct Open {
  Time end;
  SliceId slice;
  std::size_t leap;  ///< The number of one below it on the stack, or its own.
};

/// From how many slices around it on a slice has a leap: few recordings nest deeper.
constexpr std::size_t kDeep = 64;

/// Where the next slice on the stack leaps to: to its parent, or where two leaps of equal length
/// lie below, over both. So any is reached by O(log depth) leaps and steps (Myers, "An applicative
/// random-access stack", 1983).
std::size_t leap_from_top(const std::vector<Open>& stack) {
  if (stack.size() <= kDeep) return stack.size();
  const std::size_t parent = stack.size() - 1;
  const std::size_t first = stack[parent].leap;
  const std::size_t second = stack[first].leap;
  return parent - first == first - second ? second : parent;
}

/// Walks one thread's slices in nesting order with the stack of those that are open.
void nest(const Trace& trace, Group& group, Nesting& nesting) {
  const Slices& slices = trace.slices;
  std::vector<Open> stack;
  for (const SliceId slice : group.thread.slices) {
    const Time start = slices.start[slice.row()];
    const Duration duration = slices.duration[slice.row()];
    const Time end = start + duration;
    while (!stack.empty() && (start >= stack.back().end || end > stack.back().end)) {
      if (start < stack.back().end) {
        if (group.overlaps++ == 0) group.first_overlap = stack.back().slice;
      }
      stack.pop_back();
    }
    if (!stack.empty()) {
      nesting.parent[slice.row()] = stack.back().slice;
    }
    const std::size_t leap = leap_from_top(stack);
    if (leap < stack.size()) nesting.leap[slice.row()] = stack[leap].slice.value + 1;
    stack.push_back({end, slice, leap});
  }
}

void sort_and_nest(const Trace& trace, Group& group, Nesting& nesting) {
  sort_rows(std::span<SliceId>(group.thread.slices),
            [&trace](SliceId a, SliceId b) { return nests_before(trace, a, b); });
  nest(trace, group, nesting);
}

/// Groups are independent of each other: the largest first, on as many threads as there are cores.
void nest_all(const Trace& trace, std::vector<Group>& groups, Nesting& nesting) {
  std::vector<Group*> order;
  order.reserve(groups.size());
  for (Group& group : groups) order.push_back(&group);
  std::ranges::sort(order, std::ranges::greater(),
                    [](const Group* group) { return group->thread.slices.size(); });
  const bool large = trace.slices.size() > kWorthThreads;
  for_each_in_parallel(order.size(), large ? 0 : 1,
                       [&](std::size_t i) { sort_and_nest(trace, *order[i], nesting); });
}

}  // namespace

Nesting compute_nesting(const Trace& trace) {
  const Slices& slices = trace.slices;
  Nesting nesting;
  nesting.parent.resize(slices.size());
  std::ranges::fill(nesting.parent.mutable_span(), SliceId());
  nesting.leap.resize(slices.size());
  std::vector<Group> groups = partition(trace);
  nest_all(trace, groups, nesting);
  for (Group& group : groups) {
    nesting.overlaps += group.overlaps;
    if (group.first_overlap.valid() && group.first_overlap < nesting.first_overlap) {
      nesting.first_overlap = group.first_overlap;
    }
    std::vector<Nesting::Thread>& threads = group.forest == Forest::work     ? nesting.work
                                            : group.forest == Forest::frames ? nesting.frames
                                                                             : nesting.rest;
    threads.push_back(std::move(group.thread));
  }
  return nesting;
}

Column<Duration> self_times(const Trace& trace, const Nesting& nesting) {
  Column<Duration> self;
  self.append(trace.slices.duration.span());
  for (std::size_t row = 0; row < self.size(); ++row) {
    if (nesting.parent[row].valid()) self[nesting.parent[row].row()] -= trace.slices.duration[row];
  }
  return self;
}

const Nesting::Thread* thread_on(const std::vector<Nesting::Thread>& forest, TrackId track) {
  const auto at = std::ranges::lower_bound(forest, track, {}, &Nesting::Thread::track);
  return at == forest.end() || at->track != track ? nullptr : &*at;
}

SliceId innermost_at(const Trace& trace, const Nesting& nesting, const Nesting::Thread& thread,
                     Time at, Time end) {
  const Slices& slices = trace.slices;
  const auto start_of = [&slices](SliceId slice) { return slices.start[slice.row()]; };
  const auto after = std::ranges::upper_bound(thread.slices, at, {}, start_of);
  if (after == thread.slices.begin()) return {};
  return innermost_holding(nesting, *(after - 1), [&](SliceId slice) {
    return at < slices.end(slice) && end <= slices.end(slice);
  });
}

}  // namespace fathom
