// Sums what was launched inside of host events up to those around them, each event visited once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/operators/op_device.h"
#include "store/column.h"

namespace fathom {

/// Durations that were put into counted host events, and the events around those. Borrows.
class SubtreeSums {
 public:
  explicit SubtreeSums(const OpDeviceInput& input) : input_(input) {
    const std::size_t slices = input.context.trace.slices.size();
    reached_.resize(slices);  // neither takes memory until it is written to
    inside_.resize(slices);
  }

  /// Adds to the event, which may be invalid, and all around it; calls reach(event) for those that
  /// are met for the first time, from the inside out.
  template <typename Reach>
  void add(SliceId event, Duration duration, const Reach& reach) {
    if (!event.valid()) return;
    inside_[event.row()] += duration;
    for (; event.valid() && reached_[event.row()] == 0; event = input_.forest.parent(event)) {
      reached_[event.row()] = 1;
      reach(event);
    }
  }

  /// Calls enter(event) for each event that was reached, those around an event before it, and
  /// leave(event, sum) with what was added to it and inside of it. In the order of the threads.
  template <typename Enter, typename Leave>
  void visit(const Enter& enter, const Leave& leave);

 private:
  template <typename Enter, typename Leave>
  void visit_thread(const Nesting::Thread& thread, const Enter& enter, const Leave& leave);

  const OpDeviceInput& input_;
  Column<std::uint8_t> reached_;
  Column<Duration> inside_;
};

template <typename Enter, typename Leave>
void SubtreeSums::visit(const Enter& enter, const Leave& leave) {
  const Nesting& nesting = input_.context.nesting();
  for (const Nesting::Thread& thread : nesting.work) visit_thread(thread, enter, leave);
  for (const Nesting::Thread& thread : nesting.rest) visit_thread(thread, enter, leave);
}

template <typename Enter, typename Leave>
void SubtreeSums::visit_thread(const Nesting::Thread& thread, const Enter& enter,
                               const Leave& leave) {
  std::vector<SliceId> open;
  const auto close = [&] {
    const SliceId event = open.back();
    open.pop_back();
    leave(event, inside_[event.row()]);
    if (!open.empty()) inside_[open.back().row()] += inside_[event.row()];
  };
  for (const SliceId event : thread.slices) {
    if (reached_[event.row()] == 0) continue;
    const SliceId around = input_.forest.parent(event);
    while (!open.empty() && open.back() != around) close();
    open.push_back(event);
    enter(event);
  }
  while (!open.empty()) close();
}

}  // namespace fathom
