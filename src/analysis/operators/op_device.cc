// Adds device time to operators by their launches.
#include "analysis/operators/op_device.h"

#include <cstdint>
#include <vector>

namespace fathom {
namespace {

/// Adds one activity after another, remembering per row which activity it counted last.
class Adder {
 public:
  Adder(const OpDeviceInput& input, OpRows& rows) : input_(input), rows_(rows) {}

  /// `owner`: the counted event that gets the self time. `inside`: where the totals begin, or
  /// invalid.
  void add(SliceId owner, SliceId inside, Duration duration) {
    ++current_;
    const std::size_t self = host_row(input_, rows_, owner);
    rows_.row(self).device_self += duration;
    add_total(self, duration);
    add_totals(inside, duration);
  }
  void add_without_owner(SliceId inside, Duration duration) {
    ++current_;
    add_totals(inside, duration);
  }

 private:
  void add_totals(SliceId slice, Duration duration) {
    const Trace& trace = input_.context.trace;
    for (; slice.valid(); slice = input_.forest.parent(slice)) {
      const SliceKind kind = trace.kind(slice);
      if (kind == SliceKind::runtime || kind == SliceKind::driver) continue;
      add_total(host_row(input_, rows_, slice), duration);
    }
  }
  void add_total(std::size_t row, Duration duration) {
    if (row >= counted_.size()) counted_.resize(rows_.size() * 2 + 64);
    if (counted_[row] == current_) return;
    counted_[row] = current_;
    rows_.row(row).device_total += duration;
  }

  const OpDeviceInput& input_;
  OpRows& rows_;
  std::vector<std::uint32_t> counted_;
  std::uint32_t current_ = 0;
};

}  // namespace

std::size_t host_row(const OpDeviceInput& input, OpRows& rows, SliceId slice) {
  const Trace& trace = input.context.trace;
  const bool annotation = trace.kind(slice) == SliceKind::user_annotation;
  return rows.index_of(input.names[trace.slices.name[slice.row()]].canonical,
                       annotation ? OpRowKind::annotation : OpRowKind::host, input.groups[slice]);
}

DeviceRemainder add_device_time(const OpDeviceInput& input, OpRows& rows) {
  const Context& context = input.context;
  const Trace& trace = context.trace;
  const Links& links = context.links();
  const Selector selector = context.selector();
  DeviceRemainder remainder;
  Adder adder(input, rows);
  for (const SliceId activity : links.activities) {
    if (!selector.activity(trace, activity)) continue;
    const Duration duration = trace.slices.duration[activity.row()];
    const SliceId launch = links.launch[activity.row()];
    const SliceId owner = input.forest.owner(links.op[activity.row()]);
    const SliceId inside = input.forest.at_or_above(launch.valid() ? launch : owner);
    if (owner.valid()) {
      adder.add(owner, inside, duration);
      continue;
    }
    if (!launch.valid()) {
      ++remainder.unattributed_count;
      remainder.unattributed += duration;
      continue;
    }
    ++remainder.no_operator_count;
    remainder.no_operator += duration;
    adder.add_without_owner(inside, duration);
  }
  return remainder;
}

}  // namespace fathom
