// modules: the nn.Module hierarchy with host and device time.
#include <optional>
#include <string>
#include <vector>

#include "analysis/operators/module_times.h"
#include "reports/report.h"

namespace fathom {
namespace modules_report {
namespace {

struct Row {
  std::uint32_t node = Modules::kTop;  ///< kTop: device time that belongs to no module.
  std::int64_t depth = 0;
  ModuleTimes times;
};

struct Shared {
  const Context* context = nullptr;
  Duration device{};  ///< Of all device activities.
};
using ModuleRows = ReportRows<Row, Shared>;

std::string path_of(const Row& row, const Shared& shared) {
  if (row.node == Modules::kTop) return "(outside of modules)";
  return shared.context->modules().path(shared.context->trace, row.node);
}

/// Of a module; unset for what is outside of all.
template <auto kMember>
auto of_module(const Row& row) {
  return row.node == Modules::kTop ? std::nullopt : std::optional(row.times.*kMember);
}

constexpr ModuleRows::Column kColumns[] = {
    {"module", ColumnKind::name, "",
     "Path in the hierarchy, outermost first; (outside of modules) for device time of no module.",
     by<path_of>},
    {"depth", ColumnKind::integer, "", "How many modules are around it.", by<&Row::depth>, true},
    {"calls", ColumnKind::count, "", "How often it was called.",
     by<of_module<&ModuleTimes::calls>>},
    {"host_total_ns", ColumnKind::duration_ns, "ns",
     "Time in its forward calls, modules inside included.",
     by<of_module<&ModuleTimes::host_total>>},
    {"host_self_ns", ColumnKind::duration_ns, "ns", "The same without the modules inside.",
     by<of_module<&ModuleTimes::host_self>>},
    {"device_total_ns", ColumnKind::duration_ns, "ns",
     "Device activities that its forward calls and the backward operators of those launched, "
     "modules inside "
     "included.",
     [](const Row& row) { return row.times.device_total; }},
    {"device_self_ns", ColumnKind::duration_ns, "ns", "The same without the modules inside.",
     [](const Row& row) { return row.times.device_self; }},
    {"device_total_percent", ColumnKind::percent, "percent",
     "Share of the time of all device activities.",
     [](const Row& row, const Shared& shared) {
       return percent_of(row.times.device_total, shared.device);
     }},
    {"backward_host_ns", ColumnKind::duration_ns, "ns",
     "Time of the backward operators that belong to its forward operators, modules inside "
     "included.",
     by<of_module<&ModuleTimes::backward_host>>},
    {"backward_device_ns", ColumnKind::duration_ns, "ns",
     "The part of device_total_ns that those backward operators launched.",
     by<of_module<&ModuleTimes::backward_device>>},
};

/// Rows in the order of a walk through the tree, modules of one parent in the order of their first
/// call.
class Walk {
 public:
  Walk(const Modules& modules, const std::vector<ModuleTimes>& times)
      : times_(times), children_(modules.nodes.size()) {
    for (std::uint32_t node = 1; node < modules.nodes.size(); ++node) {
      children_[modules.nodes[node].parent].push_back(node);
    }
  }

  void add(std::uint32_t node, std::int64_t depth, std::vector<Row>& rows) const {
    for (const std::uint32_t child : children_[node]) {
      if (has_something(times_[child])) rows.push_back({child, depth, times_[child]});
      add(child, depth + 1, rows);
    }
  }

  /// Device time that belongs to no module.
  void add_outside(std::vector<Row>& rows) const {
    const Duration device = times_[Modules::kTop].device_self;
    if (device == Duration()) return;
    Row outside;
    outside.times.device_total = outside.times.device_self = device;
    rows.push_back(outside);
  }

 private:
  static bool has_something(const ModuleTimes& times) {
    return times.calls > 0 || times.device_total != Duration() || times.backward_host != Duration();
  }

  const std::vector<ModuleTimes>& times_;
  std::vector<std::vector<std::uint32_t>> children_;
};

Result<ModuleRows> compute(const Context& context) {
  ModuleRows modules{.shared = {&context}};
  const std::vector<ModuleTimes> times = compute_module_times(context);
  for (const ModuleTimes& time : times) modules.shared.device += time.device_self;
  const Walk walk(context.modules(), times);
  walk.add(Modules::kTop, 0, modules.rows);
  walk.add_outside(modules.rows);
  return modules;
}

constexpr Need kNeeds[] = {{StoreTable::module_frames}};

Report report() {
  return report_of<kColumns, compute>({
      .id = "modules",
      .title = "The nn.Module hierarchy with host and device time",
      .doc = "A row per module and place it is called from, as a tree. Needs Python stacks in the "
             "capture: without them it has no rows. "
             "Operators belong to the module whose call they start in, backward operators to the "
             "module of "
             "their forward operator. device_self_ns sums to the duration of all kernels, copies "
             "and fills.",
      .group_by = {},
      .sort = "",
      .example = "fathom modules trace.json.gz --sort -device_self_ns",
      .needs = kNeeds,
  });
}

}  // namespace
}  // namespace modules_report

Report modules() { return modules_report::report(); }

}  // namespace fathom
