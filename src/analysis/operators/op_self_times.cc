// Sums of self time by name, without the rest of the operator table.
#include "analysis/operators/op_self_times.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "analysis/structure/torch_forest.h"
#include "store/column.h"

namespace fathom {
namespace {

/// Operators and annotations of one name are two rows, as in the operator table.
class Sums {
 public:
  Sums(const Trace& trace, const TorchNames& names) : trace_(trace), names_(names) {
    for (Column<Duration>& sums : by_name_) sums.resize(names.size());
  }

  void add(SliceId slice, Duration duration) {
    const bool annotation = trace_.kind(slice) == SliceKind::user_annotation;
    by_name_[annotation ? 1 : 0][names_[trace_.slices.name[slice.row()]].canonical] += duration;
  }

  void append_to(std::vector<OpSelfTime>& rows) const {
    for (const Column<Duration>& sums : by_name_) {
      for (std::uint32_t name = 0; name < sums.size(); ++name) {
        if (sums[name] != Duration()) rows.push_back({names_.text(name), sums[name]});
      }
    }
  }

 private:
  const Trace& trace_;
  const TorchNames& names_;
  std::array<Column<Duration>, 2> by_name_;
};

void sum_device(const Context& context, const TorchForest& forest, OpSelfTimes& times) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  const Selector selector = context.selector();
  Sums sums(trace, times.names);
  Duration no_operator{};
  Duration unattributed{};
  for (const SliceId activity : links.activities) {
    if (!selector.activity(trace, activity)) continue;
    const Duration duration = trace.slices.duration[activity.row()];
    times.sum += duration;
    const SliceId owner = forest.owner(links.op[activity.row()]);
    if (owner.valid()) {
      sums.add(owner, duration);
    } else {
      (links.launch[activity.row()].valid() ? no_operator : unattributed) += duration;
    }
  }
  sums.append_to(times.rows);
  if (no_operator != Duration()) times.rows.push_back({"(no operator)", no_operator});
  if (unattributed != Duration()) times.rows.push_back({"(unattributed)", unattributed});
}

void sum_host(const Context& context, const TorchForest& forest, OpSelfTimes& times) {
  const Trace& trace = context.trace;
  const Selector selector = context.selector();
  Sums sums(trace, times.names);
  const auto add = [&](SliceId slice, Duration duration) {
    if (!selector.host(trace, slice)) return;
    sums.add(slice, duration);
    times.sum += duration;
  };
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    if (!forest.is_counted(slice)) continue;
    const Duration duration = trace.slices.duration[row];
    if (!forest.is_asynchronous(slice)) add(slice, duration);
    if (const SliceId parent = forest.parent(slice); parent.valid()) add(parent, -duration);
  }
  sums.append_to(times.rows);
}

}  // namespace

OpSelfTimes compute_op_self_times(const Context& context) {
  OpSelfTimes times{.names = TorchNames(context.trace)};
  const TorchForest forest(context.trace, context.nesting(), times.names);
  sum_device(context, forest, times);
  times.on_device = times.sum > Duration();
  if (!times.on_device) {
    times.rows.clear();
    sum_host(context, forest, times);
  }
  return times;
}

}  // namespace fathom
