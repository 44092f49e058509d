// stacks: folded call stacks for flame graphs.
#include "analysis/operators/folded_stacks.h"
#include "base/digit_groups.h"
#include "reports/report.h"

namespace fathom {
namespace stacks_report {
namespace {

struct Sum {
  Duration time{};  ///< Of all rows.
};
using Stacks = ReportRows<FoldedStack, Sum>;

constexpr Stacks::Column kColumns[] = {
    {"stack", ColumnKind::name, "",
     "Python frames, annotations, operators and calls, outermost first, joined by ';'; with "
     "--metric device the "
     "kernel is the leaf.",
     [](const FoldedStack& stack) { return std::string_view(stack.text); }},
    {"total_ns", ColumnKind::duration_ns, "ns",
     "Time in exactly this stack, deeper stacks excluded.", by<&FoldedStack::time>},
    {"percent", ColumnKind::percent, "percent", "Its share of the sum of all rows.",
     [](const FoldedStack& stack, const Sum& sum) { return percent_of(stack.time, sum.time); }},
    {"calls", ColumnKind::count, "", "How often the stack was reached.", by<&FoldedStack::count>},
};

constexpr std::string_view kMetrics[] = {"host", "device"};
constexpr ReportOption kMetric = {.name = "metric",
                                  .type = OptionType::choice,
                                  .doc = "Which time to count: host or device",
                                  .value = "WHAT",
                                  .choices = kMetrics};
constexpr ReportOption kOptions[] = {kMetric};

Result<Stacks> compute(const Context& context, const OptionValues& own) {
  const bool device = own.text(kMetric) == "device";
  Stacks stacks{
      .rows = compute_folded_stacks(context, device ? StackMetric::device : StackMetric::host)};
  for (const FoldedStack& stack : stacks.rows) stacks.shared.time += stack.time;
  if (context.nesting().frames.empty()) {
    stacks.notes.emplace_back(
        "No Python frames were recorded (with_stack): stacks begin at operators.");
  }
  if (device && context.links().without_launch > 0) {
    stacks.notes.push_back(
        grouped(context.links().without_launch) +
        " device activities have no launch in the trace: their stack is their name.");
  }
  return stacks;
}

Report report() {
  return report_of<kColumns, compute>(
      {.id = "stacks",
       .title = "Call stacks for flame graphs, by host or device time",
       .doc = "A row per distinct stack; --folded prints them as flame-graph programs read them. "
              "With --metric host (the default) the rows sum to the time "
              "that threads "
              "were inside of anything; with --metric device to the duration of all kernels, "
              "copies and fills.",
       .group_by = {},
       .sort = "",
       .example = "fathom stacks trace.json.gz --folded | flamegraph.pl > flame.svg",
       .options = kOptions});
}

}  // namespace
}  // namespace stacks_report

Report stacks() { return stacks_report::report(); }

}  // namespace fathom
