// ops: the operator table, torch's key_averages() with device time by launch.
#include <algorithm>
#include <array>
#include <tuple>

#include "analysis/operators/op_table.h"
#include "base/digit_groups.h"
#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"name", ColumnKind::name, "",
     "Name of the operator, annotation or call, as torch prints it: ProfilerStep#7 is "
     "ProfilerStep*."},
    {"kind", ColumnKind::text, "",
     "host (operator, runtime or driver call, profiler overhead), annotation, device, device "
     "annotation, memory, "
     "or remainder for the two rows that hold device time without an operator.",
     true},
    {"calls", ColumnKind::count, "", "How many events the row sums up."},
    {"host_total_ns", ColumnKind::duration_ns, "ns", "Sum of the durations on the host."},
    {"host_self_ns", ColumnKind::duration_ns, "ns",
     "Host time less that of the direct children; 0 for asynchronous events."},
    {"host_mean_ns", ColumnKind::duration_ns, "ns", "Mean duration on the host, rounded.", true},
    {"host_total_percent", ColumnKind::percent, "percent",
     "Host time as a share of the host self time of all rows; 0 for asynchronous events.", true},
    {"host_self_percent", ColumnKind::percent, "percent",
     "Share of the host self time of all rows."},
    {"device_total_ns", ColumnKind::duration_ns, "ns",
     "Duration of the device activities launched inside, each counted once."},
    {"device_self_ns", ColumnKind::duration_ns, "ns",
     "Duration of the device activities whose launch has this operator as its innermost."},
    {"device_mean_ns", ColumnKind::duration_ns, "ns", "Mean device time of a call, rounded.", true},
    {"device_total_percent", ColumnKind::percent, "percent",
     "Share of the time of all device activities.", true},
    {"device_self_percent", ColumnKind::percent, "percent",
     "Share of the time of all device activities."},
    {"device_memory_bytes", ColumnKind::bytes, "bytes",
     "Device memory allocated less freed while it ran, on any thread."},
    {"device_memory_self_bytes", ColumnKind::bytes, "bytes",
     "The same less that of the direct children.", true},
    {"host_memory_bytes", ColumnKind::bytes, "bytes",
     "Host memory allocated less freed while it ran, on any thread.", true},
    {"host_memory_self_bytes", ColumnKind::bytes, "bytes",
     "The same less that of the direct children.", true},
    {"flops", ColumnKind::count, "",
     "Floating-point operations by torch's formulas from the recorded shapes; 0 for operators "
     "without a formula, "
     "null where shapes or arguments were not recorded."},
    {"input_shapes", ColumnKind::name, "", "Shapes of the inputs, when grouped by shape.", false,
     "shape"},
    {"stack", ColumnKind::name, "", "Innermost Python frames, when grouped by stack.", true,
     "stack"},
    {"phase", ColumnKind::text, "",
     "forward, backward, optimizer, data, communication or other, when grouped by phase.", true,
     "phase"},
    {"module", ColumnKind::name, "", "Path in the nn.Module hierarchy, when grouped by module.",
     true, "module"},
    {"thread", ColumnKind::text, "", "Process/thread and its name, when grouped by thread.", true,
     "thread"},
    {"asynchronous", ColumnKind::flag, "",
     "It ends on another thread (communication, RPC): not nested, without self time.", true},
};

constexpr std::string_view kOptions[] = {"torch"};
constexpr std::string_view kGroupBy[] = {"name", "shape", "stack", "phase", "module", "thread"};
constexpr std::array<OpGrouping, std::size(kGroupBy)> kGroupings = {
    OpGrouping::name,  OpGrouping::shape,  OpGrouping::stack,
    OpGrouping::phase, OpGrouping::module, OpGrouping::thread};

OpGrouping grouping_of(std::string_view group_by) {
  const auto at = std::ranges::find(kGroupBy, group_by);
  return at == std::end(kGroupBy) ? OpGrouping::name
                                  : kGroupings[static_cast<std::size_t>(at - kGroupBy)];
}

std::string_view kind_text(OpRowKind kind) {
  switch (kind) {
    case OpRowKind::host:
      return "host";
    case OpRowKind::annotation:
      return "annotation";
    case OpRowKind::device:
      return "device";
    case OpRowKind::device_annotation:
      return "device annotation";
    case OpRowKind::memory:
      return "memory";
    default:
      return "remainder";
  }
}

Value mean_value(Duration total, std::int64_t calls) {
  if (calls == 0) return {};
  const std::int64_t sum = to_ns(total);
  return int_value((sum + (sum < 0 ? -calls : calls) / 2) / calls);
}

Value share(Duration part, Duration whole) {
  return percent_value(static_cast<double>(to_ns(part)), static_cast<double>(to_ns(whole)));
}

/// torch counts operations only when asked to (with_flops), and knows no gaps.
Value flops_value(const OpRow& row, const Context& context) {
  if (!context.options.torch) return row.flops_missing ? Value() : int_value(row.flops);
  const Fact* asked = context.trace.fact("with_flops");
  const bool counted = asked != nullptr && asked->value != "0" && asked->value != "false";
  return int_value(counted ? row.flops : 0);
}

std::vector<Value> row_values(const OpRow& row, const OpTable& table, const Context& context,
                              OpGrouping grouping) {
  const auto group = [&](OpGrouping wanted) {
    const bool grouped = grouping == wanted && row.kind != OpRowKind::no_operator &&
                         row.kind != OpRowKind::unattributed;
    if (!grouped) return Value();
    return wanted == OpGrouping::shape ? text_value(table.groups[row.group])
                                       : text_or_null(table.groups[row.group]);
  };
  return {
      text_value(row.name),
      text_value(kind_text(row.kind)),
      int_value(row.calls),
      ns_value(row.host_total),
      ns_value(row.host_self),
      mean_value(row.host_total, row.calls),
      row.asynchronous ? Value(0.0) : share(row.host_total, table.host_self_sum),
      share(row.host_self, table.host_self_sum),
      ns_value(row.device_total),
      ns_value(row.device_self),
      mean_value(row.device_total, row.calls),
      share(row.device_total, table.device_self_sum),
      share(row.device_self, table.device_self_sum),
      int_value(row.memory.device),
      int_value(row.memory_self.device),
      int_value(row.memory.host),
      int_value(row.memory_self.host),
      flops_value(row, context),
      group(OpGrouping::shape),
      group(OpGrouping::stack),
      group(OpGrouping::phase),
      group(OpGrouping::module),
      group(OpGrouping::thread),
      Value(row.asynchronous),
  };
}

std::vector<std::string> notes_of(const OpTable& table, const Context& context,
                                  OpGrouping grouping) {
  std::vector<std::string> notes;
  const Links& links = context.links();
  if (!table.has_memory)
    notes.emplace_back("No allocator events were recorded: the memory columns are 0.");
  if (links.activities.empty())
    notes.emplace_back("No device activity was recorded: the device columns are 0.");
  if (links.without_launch > 0) {
    notes.push_back(grouped(links.without_launch) + " of " + grouped(links.activities.size()) +
                    " device activities have no launch in the trace" +
                    (links.external_trusted
                         ? "; External ids name the operator of those that carry one."
                         : "; they are (unattributed)."));
  }
  if (grouping == OpGrouping::module && context.modules().nodes.size() == 1) {
    notes.emplace_back("No nn.Module frames were recorded (with_stack): modules are unknown.");
  }
  return notes;
}

Result<Table> compute(const Context& context) {
  const OpGrouping grouping = grouping_of(context.options.group_by);
  OpTable table = compute_op_table(context, grouping);
  if (!context.options.torch) {
    std::ranges::stable_sort(table.rows, std::ranges::greater(), [](const OpRow& row) {
      return std::tuple(row.device_self, row.host_self);
    });
  }
  Table out;
  out.rows.reserve(table.rows.size());
  for (const OpRow& row : table.rows) out.rows.push_back(row_values(row, table, context, grouping));
  out.notes = notes_of(table, context, grouping);
  return out;
}

constexpr std::string_view kImportance[] = {"name",
                                            "calls",
                                            "device_self_ns",
                                            "device_self_percent",
                                            "host_self_ns",
                                            "host_self_percent",
                                            "device_total_ns",
                                            "host_total_ns",
                                            "device_memory_bytes",
                                            "flops"};

}  // namespace

Report ops() {
  return {.id = "ops",
          .title = "Operators: host and device time, memory, operations",
          .doc =
              "A row per operator, annotation and runtime call by name, with the sums that torch's "
              "key_averages() gives. Device self time is by launch: over all rows, with (no "
              "operator) and "
              "(unattributed), it sums to the duration of all kernels, copies and fills. --torch "
              "gives torch's "
              "own rows, with device events, and torch's own device sums.",
          .columns = kColumns,
          .group_by = kGroupBy,
          .sort = "",
          .example = "fathom ops trace.json.gz --group-by shape --limit 20",
          .compute = compute,
          .options = kOptions,
          .importance = kImportance};
}

}  // namespace fathom
