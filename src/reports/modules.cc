// modules: the nn.Module hierarchy with host and device time.
#include <vector>

#include "analysis/operators/module_times.h"
#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"module", ColumnKind::name, "",
     "Path in the hierarchy, outermost first; (outside of modules) for device time of no module."},
    {"depth", ColumnKind::integer, "", "How many modules are around it.", true},
    {"calls", ColumnKind::count, "", "How often it was called."},
    {"host_total_ns", ColumnKind::duration_ns, "ns",
     "Time in its forward calls, modules inside included."},
    {"host_self_ns", ColumnKind::duration_ns, "ns", "The same without the modules inside."},
    {"device_total_ns", ColumnKind::duration_ns, "ns",
     "Device activities that its forward calls and the backward operators of those launched, "
     "modules inside "
     "included."},
    {"device_self_ns", ColumnKind::duration_ns, "ns", "The same without the modules inside."},
    {"device_total_percent", ColumnKind::percent, "percent",
     "Share of the time of all device activities."},
    {"backward_host_ns", ColumnKind::duration_ns, "ns",
     "Time of the backward operators that belong to its forward operators, modules inside "
     "included."},
    {"backward_device_ns", ColumnKind::duration_ns, "ns",
     "The part of device_total_ns that those backward operators launched."},
};

/// Rows in the order of a walk through the tree, modules of one parent in the order of their first
/// call.
class Walk {
 public:
  Walk(const Context& context, const std::vector<ModuleTimes>& times)
      : context_(context),
        modules_(context.modules()),
        times_(times),
        children_(modules_.nodes.size()) {
    for (std::uint32_t node = 1; node < modules_.nodes.size(); ++node) {
      children_[modules_.nodes[node].parent].push_back(node);
    }
    for (const ModuleTimes& time : times) device_ += time.device_self;
  }

  void add(std::uint32_t node, std::int64_t depth, Table& table) const {
    for (const std::uint32_t child : children_[node]) {
      if (has_something(times_[child])) {
        table.rows.push_back(row(modules_.path(context_.trace, child), depth, times_[child]));
      }
      add(child, depth + 1, table);
    }
  }

  /// Device time that belongs to no module.
  void add_outside(Table& table) const {
    const ModuleTimes& top = times_[Modules::kTop];
    if (top.device_self == Duration()) return;
    ModuleTimes outside;
    outside.device_total = outside.device_self = top.device_self;
    std::vector<Value> values = row("(outside of modules)", 0, outside);
    values[2] = values[3] = values[4] = values[8] = values[9] = Value();
    table.rows.push_back(std::move(values));
  }

 private:
  static bool has_something(const ModuleTimes& times) {
    return times.calls > 0 || times.device_total != Duration() || times.backward_host != Duration();
  }

  [[nodiscard]] std::vector<Value> row(const std::string& name, std::int64_t depth,
                                       const ModuleTimes& times) const {
    return {
        text_value(name),
        int_value(depth),
        int_value(times.calls),
        ns_value(times.host_total),
        ns_value(times.host_self),
        ns_value(times.device_total),
        ns_value(times.device_self),
        percent_value(static_cast<double>(to_ns(times.device_total)),
                      static_cast<double>(to_ns(device_))),
        ns_value(times.backward_host),
        ns_value(times.backward_device),
    };
  }

  const Context& context_;
  const Modules& modules_;
  const std::vector<ModuleTimes>& times_;
  std::vector<std::vector<std::uint32_t>> children_;
  Duration device_{};
};

Result<Table> compute(const Context& context) {
  Table table;
  if (context.modules().nodes.size() == 1) {
    table.notes.emplace_back(
        "No nn.Module frames were recorded: profile with with_stack=True to see modules.");
    return table;
  }
  const std::vector<ModuleTimes> times = compute_module_times(context);
  const Walk walk(context, times);
  walk.add(Modules::kTop, 0, table);
  walk.add_outside(table);
  return table;
}

}  // namespace

Report modules() {
  return {.id = "modules",
          .title = "The nn.Module hierarchy with host and device time",
          .doc =
              "A row per module and place it is called from, as a tree. Needs Python stacks in the "
              "capture: without them it has no rows. "
              "Operators belong to the module whose call they start in, backward operators to the "
              "module of "
              "their forward operator. device_self_ns sums to the duration of all kernels, copies "
              "and fills.",
          .columns = kColumns,
          .group_by = {},
          .sort = "",
          .example = "fathom modules trace.json.gz --sort -device_self_ns",
          .compute = compute};
}

}  // namespace fathom
