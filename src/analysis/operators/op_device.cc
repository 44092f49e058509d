// Adds device time to operators by their launches.
#include "analysis/operators/op_device.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/operators/subtree_sums.h"
#include "analysis/util/row_order.h"

namespace fathom {
namespace {

/// An activity whose own row may be none of those around its launch.
struct Launched {
  SliceId inside;  ///< The innermost event around its launch, or invalid.
  std::size_t row = 0;
  Duration duration{};
};

/// Adds activities to their own rows and to those around their launches, to each row once however
/// many of its events are around each other.
class Adder {
 public:
  Adder(const OpDeviceInput& input, OpRows& rows) : input_(input), rows_(rows), sums_(input) {}

  /// `owner`: the counted event that gets the self time. `inside`: where the totals begin, or
  /// invalid.
  void add(SliceId owner, SliceId inside, Duration duration) {
    const std::size_t self = host_row(input_, rows_, owner);
    rows_.row(self).device_self += duration;
    if (!is_around(owner, inside)) launched_.push_back({inside, self, duration});
    add_without_owner(inside, duration);
  }
  void add_without_owner(SliceId inside, Duration duration) {
    sums_.add(inside, duration, [this](SliceId event) {
      if (has_total(event)) static_cast<void>(host_row(input_, rows_, event));
    });
  }

  void finish() {
    const auto by_place = [](const Launched& a, const Launched& b) { return a.inside < b.inside; };
    sort_rows(std::span(launched_), by_place);
    for (const Launched& each : launched_) {
      if (!each.inside.valid()) rows_.row(each.row).device_total += each.duration;
    }
    open_.resize(rows_.size());
    sums_.visit(
        [this](SliceId event) {
          if (has_total(event)) ++open_[host_row(input_, rows_, event)];
          add_own_rows(event);
        },
        [this](SliceId event, Duration sum) {
          if (!has_total(event)) return;
          const std::size_t row = host_row(input_, rows_, event);
          if (--open_[row] == 0) rows_.row(row).device_total += sum;
        });
  }

 private:
  /// As of almost all launches. Of others it is seen later.
  [[nodiscard]] bool is_around(SliceId owner, SliceId inside) const {
    return inside.valid() && (owner == inside || owner == input_.forest.parent(inside));
  }

  /// Calls have none.
  [[nodiscard]] bool has_total(SliceId event) const {
    const SliceKind kind = input_.context.trace.kind(event);
    return !is_runtime_call(kind);
  }

  /// Of what was launched directly in the event: to its own row, where no event of that is open.
  void add_own_rows(SliceId event) {
    auto at = std::ranges::lower_bound(launched_, event, {}, &Launched::inside);
    for (; at != launched_.end() && at->inside == event; ++at) {
      if (open_[at->row] == 0) rows_.row(at->row).device_total += at->duration;
    }
  }

  const OpDeviceInput& input_;
  OpRows& rows_;
  SubtreeSums sums_;
  std::vector<Launched> launched_;
  std::vector<std::uint32_t> open_;  // by row: how many of its events are around the one at hand
};

}  // namespace

std::size_t host_row(const OpDeviceInput& input, OpRows& rows, SliceId slice) {
  const Trace& trace = input.context.trace;
  const SliceKind kind = trace.kind(slice);
  const bool range = kind == SliceKind::cpu_op && !input.ranges.empty() &&
                     input.ranges[trace.slices.name[slice.row()].row()];
  const bool annotation = range || kind == SliceKind::user_annotation;
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
  adder.finish();
  return remainder;
}

}  // namespace fathom
