// stacks: folded call stacks for flame graphs.
#include "analysis/operators/folded_stacks.h"
#include "base/digit_groups.h"
#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"stack", ColumnKind::name, "",
     "Python frames, annotations, operators and calls, outermost first, joined by ';'; with "
     "--metric device the "
     "kernel is the leaf."},
    {"total_ns", ColumnKind::duration_ns, "ns",
     "Time in exactly this stack, deeper stacks excluded."},
    {"percent", ColumnKind::percent, "percent", "Its share of the sum of all rows."},
    {"calls", ColumnKind::count, "", "How often the stack was reached."},
};

constexpr std::string_view kOptions[] = {"metric"};

Result<Table> compute(const Context& context) {
  const std::string& metric = context.options.metric;
  if (!metric.empty() && metric != "host" && metric != "device") {
    return Error{ErrorCode::invalid_argument,
                 "--metric: '" + metric + "' is not one of host, device"};
  }
  const bool device = metric == "device";
  const std::vector<FoldedStack> stacks =
      compute_folded_stacks(context, device ? StackMetric::device : StackMetric::host);
  Duration sum{};
  for (const FoldedStack& stack : stacks) sum += stack.time;
  Table table;
  for (const FoldedStack& stack : stacks) {
    table.rows.push_back(
        {text_value(stack.text), ns_value(stack.time),
         percent_value(static_cast<double>(to_ns(stack.time)), static_cast<double>(to_ns(sum))),
         int_value(stack.count)});
  }
  if (context.nesting().frames.empty()) {
    table.notes.emplace_back(
        "No Python frames were recorded (with_stack): stacks begin at operators.");
  }
  if (device && context.links().without_launch > 0) {
    table.notes.push_back(
        grouped(context.links().without_launch) +
        " device activities have no launch in the trace: their stack is their name.");
  }
  return table;
}

}  // namespace

Report stacks() {
  return {.id = "stacks",
          .title = "Call stacks for flame graphs, by host or device time",
          .doc =
              "A row per distinct stack; --folded prints them as flame-graph programs read them. "
              "With --metric host (the default) the rows sum to the time "
              "that threads "
              "were inside of anything; with --metric device to the duration of all kernels, "
              "copies and fills.",
          .columns = kColumns,
          .group_by = {},
          .sort = "",
          .example = "fathom stacks trace.json.gz --folded | flamegraph.pl > flame.svg",
          .compute = compute,
          .options = kOptions};
}

}  // namespace fathom
