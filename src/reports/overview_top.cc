// Picks the longest operators and kernels without sorting the others.
#include "reports/overview_top.h"

#include <algorithm>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kTop = 5;

}  // namespace

void add_top_operators(OpSelfTimes& ops, OverviewRows& rows) {
  const std::size_t count = std::min(kTop, ops.rows.size());
  const auto end = ops.rows.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(ops.rows.begin(), end, ops.rows.end(),
                    [](const OpSelfTime& a, const OpSelfTime& b) {
                      return a.self != b.self ? a.self > b.self : a.name < b.name;
                    });
  const auto sum = static_cast<double>(to_ns(ops.sum));
  rows.section(ops.on_device ? "top operators · device self time"
                             : "top operators · host self time");
  for (auto row = ops.rows.begin(); row != end; ++row) {
    if (to_ns(row->self) <= 0) break;
    rows.add(row->name, cell_of(row->self), "ns",
             percent_of(static_cast<double>(to_ns(row->self)), sum));
  }
}

void add_top_kernels(const Context& context, OverviewRows& rows) {
  const Trace& trace = context.trace;
  const Selector selector = context.selector();
  std::vector<Duration> by_name(trace.strings.size());
  std::vector<StringId> names;
  Duration sum{};
  for (const SliceId activity : context.links().activities) {
    if (!selector.activity(trace, activity)) continue;
    sum += trace.slices.duration[activity.row()];
    if (trace.kind(activity) != SliceKind::kernel) continue;
    const StringId name = trace.slices.name[activity.row()];
    if (to_ns(by_name[name.row()]) == 0) names.push_back(name);
    by_name[name.row()] += trace.slices.duration[activity.row()];
  }
  const std::size_t count = std::min(kTop, names.size());
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(names.begin(), end, names.end(), [&](StringId a, StringId b) {
    const Duration left = by_name[a.row()];
    const Duration right = by_name[b.row()];
    return left != right ? left > right : trace.text(a) < trace.text(b);
  });
  rows.section("top kernels", "top kernels · share of all device activity");
  for (auto name = names.begin(); name != end; ++name) {
    const Duration total = by_name[name->row()];
    if (to_ns(total) == 0) break;
    rows.add(trace.text(*name), cell_of(total), "ns",
             percent_of(static_cast<double>(to_ns(total)), static_cast<double>(to_ns(sum))));
  }
}

}  // namespace fathom
