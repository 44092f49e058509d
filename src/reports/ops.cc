// ops: the operator table, torch's key_averages() with device time by launch.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/operators/op_table.h"
#include "base/digit_groups.h"
#include "reports/report.h"

namespace fathom {
namespace ops_report {
namespace {

constexpr ReportOption kTorch = {.name = "torch",
                                 .type = OptionType::flag,
                                 .doc = "The rows and names of torch's key_averages(), exactly"};
constexpr ReportOption kOptions[] = {kTorch};
constexpr std::string_view kGroupBy[] = {"name",   "shape", "stack", "phase",
                                         "module", "place", "thread"};
constexpr std::array<OpGrouping, std::size(kGroupBy)> kGroupings = {
    OpGrouping::name,   OpGrouping::shape, OpGrouping::stack, OpGrouping::phase,
    OpGrouping::module, OpGrouping::place, OpGrouping::thread};

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

/// What the rows refer to.
struct Shared {
  const Context* context = nullptr;
  OpGrouping grouping = OpGrouping::name;
  OpRules rules = OpRules::own;
  bool device_recorded = false;
  std::shared_ptr<const OpTable> table;  ///< But for its rows; owns their texts.

  [[nodiscard]] std::optional<double> of_host(Duration part) const {
    return percent_of(part, table->host_self_sum);
  }
  /// Not where no device was recorded. Nothing shows what an event that ends on another thread has
  /// launched, but launches in it. torch's table has zeros for all that.
  [[nodiscard]] bool knows_device(const OpRow& row) const {
    if (rules == OpRules::torch) return true;
    return device_recorded &&
           (!row.asynchronous || row.device_total != Duration() || row.device_self != Duration());
  }
  [[nodiscard]] std::optional<std::int64_t> memory(std::int64_t bytes) const {
    if (rules == OpRules::own && !table->has_memory) return {};
    return bytes;
  }
  [[nodiscard]] std::optional<Duration> device(const OpRow& row, Duration time) const {
    return knows_device(row) ? std::optional(time) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> of_device(const OpRow& row, Duration part) const {
    if (!knows_device(row)) return {};
    return percent_of(part, table->device_self_sum);
  }
};
using Ops = ReportRows<OpRow, Shared>;

std::optional<std::int64_t> mean_of(Duration total, std::int64_t calls) {
  if (calls == 0) return {};
  const std::int64_t sum = to_ns(total);
  return (sum + (sum < 0 ? -calls : calls) / 2) / calls;
}

/// torch counts operations only when asked to (with_flops), and knows no gaps.
std::optional<std::uint64_t> flops_of(const OpRow& row, const Shared& shared) {
  if (shared.rules == OpRules::own)
    return row.flops_missing ? std::nullopt : std::optional(row.flops);
  const Fact* asked = shared.context->trace.fact("with_flops");
  const bool counted = asked != nullptr && asked->value != "0" && asked->value != "false";
  return counted ? row.flops : 0;
}

/// What the row's group is called, when that is how rows are grouped.
template <OpGrouping kWanted>
std::optional<std::string_view> group_of(const OpRow& row, const Shared& shared) {
  const bool grouped = shared.grouping == kWanted && row.kind != OpRowKind::no_operator &&
                       row.kind != OpRowKind::unattributed;
  if (!grouped) return {};
  const std::string_view text = shared.table->groups[row.group];
  return kWanted == OpGrouping::shape ? std::optional(text) : text_or_null(text);
}

/// Of rows that are grouped by place: its phase, or what stands behind it.
template <OpGrouping kPart>
std::optional<std::string_view> part_of_place(const OpRow& row, const Shared& shared) {
  const auto place = group_of<OpGrouping::place>(row, shared);
  if (!place) return group_of<kPart>(row, shared);
  const std::size_t colon = place->find(": ");
  if (kPart == OpGrouping::phase) return place->substr(0, colon);
  return colon == std::string_view::npos ? std::nullopt : std::optional(place->substr(colon + 2));
}

constexpr Ops::Column kColumns[] = {
    {"name", ColumnKind::name, "",
     "Name of the operator, annotation or call, as torch prints it: ProfilerStep#7 is "
     "ProfilerStep*.",
     by<&OpRow::name>},
    {"kind", ColumnKind::text, "",
     "host (operator, runtime or driver call, profiler overhead), annotation, device, device "
     "annotation, memory, "
     "or remainder for the two rows that hold device time without an operator.",
     [](const OpRow& row) { return kind_text(row.kind); }, true},
    {"calls", ColumnKind::count, "", "How many events the row sums up.", by<&OpRow::calls>},
    {"host_total_ns", ColumnKind::duration_ns, "ns", "Sum of the durations on the host.",
     by<&OpRow::host_total>},
    {"host_self_ns", ColumnKind::duration_ns, "ns",
     "Host time less that of the direct children; 0 for asynchronous events.",
     by<&OpRow::host_self>},
    {"host_mean_ns", ColumnKind::duration_ns, "ns", "Mean duration on the host, rounded.",
     [](const OpRow& row) { return mean_of(row.host_total, row.calls); }, true},
    {"host_total_percent", ColumnKind::percent, "percent",
     "Host time as a share of the host self time of all rows; 0 for asynchronous events.",
     [](const OpRow& row, const Shared& shared) {
       return row.asynchronous ? 0.0 : shared.of_host(row.host_total);
     },
     true},
    {"host_self_percent", ColumnKind::percent, "percent",
     "Share of the host self time of all rows.",
     [](const OpRow& row, const Shared& shared) { return shared.of_host(row.host_self); }},
    {"device_total_ns", ColumnKind::duration_ns, "ns",
     "Duration of the device activities launched inside, each counted once; null where none were "
     "recorded, and for asynchronous events, of which the trace does not show what they launched.",
     [](const OpRow& row, const Shared& shared) { return shared.device(row, row.device_total); }},
    {"device_self_ns", ColumnKind::duration_ns, "ns",
     "Duration of the device activities whose launch has this operator as its innermost; null "
     "where device_total_ns is.",
     [](const OpRow& row, const Shared& shared) { return shared.device(row, row.device_self); }},
    {"device_mean_ns", ColumnKind::duration_ns, "ns", "Mean device time of a call, rounded.",
     [](const OpRow& row, const Shared& shared) {
       return shared.knows_device(row) ? mean_of(row.device_total, row.calls) : std::nullopt;
     },
     true},
    {"device_total_percent", ColumnKind::percent, "percent",
     "Share of the time of all device activities.",
     [](const OpRow& row, const Shared& shared) { return shared.of_device(row, row.device_total); },
     true},
    {"device_self_percent", ColumnKind::percent, "percent",
     "Share of the time of all device activities.",
     [](const OpRow& row, const Shared& shared) { return shared.of_device(row, row.device_self); }},
    {"device_memory_bytes", ColumnKind::bytes, "bytes",
     "Device memory allocated less freed while it ran, on any thread; null without events of the "
     "allocator.",
     [](const OpRow& row, const Shared& shared) { return shared.memory(row.memory.device); }},
    {"device_memory_self_bytes", ColumnKind::bytes, "bytes",
     "The same less that of the direct children.",
     [](const OpRow& row, const Shared& shared) { return shared.memory(row.memory_self.device); },
     true},
    {"host_memory_bytes", ColumnKind::bytes, "bytes",
     "Host memory allocated less freed while it ran, on any thread; null without events of the "
     "allocator.",
     [](const OpRow& row, const Shared& shared) { return shared.memory(row.memory.host); }, true},
    {"host_memory_self_bytes", ColumnKind::bytes, "bytes",
     "The same less that of the direct children.",
     [](const OpRow& row, const Shared& shared) { return shared.memory(row.memory_self.host); },
     true},
    {"flops", ColumnKind::count, "",
     "Floating-point operations by torch's formulas from the recorded shapes; 0 for operators "
     "without a formula, "
     "null where shapes or arguments were not recorded.",
     by<flops_of>},
    {"input_shapes", ColumnKind::name, "", "Shapes of the inputs, when grouped by shape.",
     by<group_of<OpGrouping::shape>>, false, "shape"},
    {"stack", ColumnKind::name, "", "Innermost Python frames, when grouped by stack.",
     by<group_of<OpGrouping::stack>>, true, "stack"},
    {"phase", ColumnKind::text, "",
     "forward, backward, optimizer, data, communication or other, when grouped by phase or place.",
     by<part_of_place<OpGrouping::phase>>, true, "phase place"},
    {"module", ColumnKind::name, "",
     "Path in the nn.Module hierarchy, when grouped by module or place.",
     by<part_of_place<OpGrouping::module>>, true, "module place"},
    {"thread", ColumnKind::text, "", "Process/thread and its name, when grouped by thread.",
     by<group_of<OpGrouping::thread>>, true, "thread"},
    {"asynchronous", ColumnKind::flag, "",
     "It ends on another thread (communication, RPC): not nested, without self time.",
     by<&OpRow::asynchronous>, true},
};

std::vector<std::string> notes_of(const OpTable& table, const Context& context, OpGrouping grouping,
                                  OpRules rules) {
  std::vector<std::string> notes;
  const Links& links = context.links();
  const std::string are = rules == OpRules::torch ? " columns are 0." : " columns are empty.";
  if (!table.has_memory) notes.push_back("No allocator events were recorded: the memory" + are);
  if (links.activities.empty())
    notes.push_back("No device activity was recorded: the device" + are);
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

Result<Ops> compute(const Context& context, const OptionValues& own) {
  const OpGrouping grouping = grouping_of(context.options.group_by);
  const OpRules rules = own.flag(kTorch) ? OpRules::torch : OpRules::own;
  OpTable table = compute_op_table(context, grouping, rules);
  if (rules == OpRules::own) {
    std::ranges::stable_sort(table.rows, std::ranges::greater(), [](const OpRow& row) {
      return std::tuple(row.device_self, row.host_self);
    });
  }
  Ops ops;
  ops.notes = notes_of(table, context, grouping, rules);
  ops.rows = std::exchange(table.rows, {});
  ops.shared = {.context = &context,
                .grouping = grouping,
                .rules = rules,
                .device_recorded = !context.links().activities.empty(),
                .table = std::make_shared<const OpTable>(std::move(table))};
  return ops;
}

constexpr Need kNeeds[] = {{StoreTable::operators}};
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

Report report() {
  return report_of<kColumns, compute>(
      {.id = "ops",
       .title = "Operators: host and device time, memory, operations",
       .doc = "A row per operator, annotation and runtime call by name, with the sums that torch's "
              "key_averages() gives. Device self time is by launch: over all rows, with (no "
              "operator) and "
              "(unattributed), it sums to the duration of all kernels, copies and fills. --torch "
              "gives torch's "
              "own rows, with device events, and torch's own device sums.",
       .group_by = kGroupBy,
       .sort = "",
       .example = "fathom ops trace.json.gz --group-by shape --limit 20",
       .options = kOptions,
       .needs = kNeeds,
       .none = "No thread worked on anything that is recorded, nor did a device.",
       .importance = kImportance});
}

}  // namespace
}  // namespace ops_report

Report ops() { return ops_report::report(); }

}  // namespace fathom
