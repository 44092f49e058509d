// torch's nesting rule and its removal of duplicated events (torch/autograd/profiler_util.py,
// EventList).
#include "analysis/structure/torch_forest.h"

#include <algorithm>
#include <vector>

#include "base/parallel.h"

namespace fathom {

TorchForest::TorchForest(const Trace& trace, const Nesting& nesting, const TorchNames& names)
    : nesting_(nesting) {
  parent_.resize(trace.slices.size());
  std::ranges::fill(parent_.mutable_span(), SliceId());
  flags_.resize(trace.slices.size());
  std::vector<const Nesting::Thread*> threads;
  for (const Nesting::Thread& thread : nesting.work) threads.push_back(&thread);
  for (const Nesting::Thread& thread : nesting.rest) threads.push_back(&thread);
  std::ranges::sort(threads, std::ranges::greater(),
                    [](const auto* thread) { return thread->slices.size(); });
  const bool large = trace.slices.size() > kWorthThreads;
  for_each_in_parallel(threads.size(), large ? 0 : 1, [&](std::size_t i) {
    nest(trace, names, *threads[i]);
    drop_only_children(trace, names, *threads[i]);
  });
}

void TorchForest::nest(const Trace& trace, const TorchNames& names, const Nesting::Thread& thread) {
  struct Open {
    Time end;
    SliceId slice;
  };
  const Slices& slices = trace.slices;
  std::vector<Open> stack;
  for (const SliceId slice : thread.slices) {
    const SliceKind kind = trace.kind(slice);
    const TorchName& name = names[slices.name[slice.row()]];
    if (name.utility || (!is_host_work(kind) && kind != SliceKind::overhead)) continue;
    flags_[slice.row()] |= kCounted;
    if (name.asynchronous) {
      flags_[slice.row()] |= kAsynchronous;
      continue;
    }
    const Time start = slices.start[slice.row()];
    const Time end = slices.end(slice);
    while (!stack.empty() && (start >= stack.back().end || end > stack.back().end))
      stack.pop_back();
    if (!stack.empty()) {
      const SliceId parent = stack.back().slice;
      parent_[slice.row()] = parent;
      std::uint8_t& flags = flags_[parent.row()];
      if ((flags & kChildren) < 2) ++flags;
    }
    stack.push_back({end, slice});
  }
}

/// An only child with its parent's name is dropped and its children move up; chains collapse.
/// Parents come before children, so the parent's own fate is known: the siblings of an event are
/// the children of its first parent, whether that was dropped or not.
void TorchForest::drop_only_children(const Trace& trace, const TorchNames& names,
                                     const Nesting::Thread& thread) {
  const auto name_of = [&](SliceId slice) {
    return names[trace.slices.name[slice.row()]].canonical;
  };
  for (const SliceId slice : thread.slices) {
    const SliceId first = parent_[slice.row()];
    if (!first.valid()) continue;
    const bool first_dropped = (flags_[first.row()] & kDropped) != 0;
    const SliceId parent = first_dropped ? parent_[first.row()] : first;
    parent_[slice.row()] = parent;
    if ((flags_[first.row()] & kChildren) != 1 || name_of(parent) != name_of(slice)) continue;
    flags_[slice.row()] |= kDropped;
    flags_[slice.row()] &= static_cast<std::uint8_t>(~kCounted);
    flags_[first.row()] |= kReplaced;
    flags_[parent.row()] |= kReplaced;
  }
}

SliceId TorchForest::at_or_above(SliceId slice) const {
  while (slice.valid()) {
    const std::uint8_t flags = flags_[slice.row()];
    if ((flags & kDropped) != 0) return parent_[slice.row()];
    if ((flags & kCounted) != 0 && (flags & kAsynchronous) == 0) return slice;
    slice = nesting_.parent[slice.row()];
  }
  return slice;
}

}  // namespace fathom
