// overview: the first screen: can the capture be trusted, how long is a step, what did each device
// do, and what takes its time.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/health/health.h"
#include "base/parallel.h"
#include "reports/overview_devices.h"
#include "reports/overview_rows.h"
#include "reports/overview_top.h"
#include "reports/report.h"
#include "reports/step_selection.h"
#include "stats/summary.h"

namespace fathom {
namespace overview_report {
namespace {

constexpr Overview::Column kColumns[] = {
    {"section", ColumnKind::text, "", "capture, step time, device N, top operators or top kernels.",
     [](const OverviewRow& row) { return std::string_view(row.section); }},
    {"metric", ColumnKind::name, "", "What the value is; in the top lists, the operator or kernel.",
     [](const OverviewRow& row) { return std::string_view(row.metric); }},
    {"value", ColumnKind::text, "", "The value in its unit.",
     [](const OverviewRow& row) { return row.value; }},
    {"unit", ColumnKind::text, "", "ns, bytes, percent, count, or empty for a text.",
     by<&OverviewRow::unit>},
    {"percent", ColumnKind::percent, "percent",
     "Times of a device: share of its window. Top lists: share of the time of all device activity, "
     "or, in a trace "
     "without any, of all host self time.",
     by<&OverviewRow::percent>},
    {"note", ColumnKind::text, "", "What a value does not cover, where that is not nothing.",
     by<&OverviewRow::note>},
};

void add_capture(const Context& context, OverviewRows& rows) {
  rows.section("capture");
  const Health health = compute_health(context);
  rows.add("health", cell_of(health.summary()), "");
  for (const HealthCheck* const loss : health.losses_beside_summary())
    rows.add("incomplete", cell_of(loss->sentence()), "");
}

std::string source_text(const Steps& steps) {
  return steps.source == StepSource::whole_trace ? "whole trace" : steps.name;
}

/// Statistics of the whole steps among those selected; of all of them when there is no whole one.
void add_step_time(const Context& context, OverviewRows& rows) {
  const Steps& steps = context.steps();
  std::vector<double> whole;
  std::vector<double> all;
  for (const Step& step : steps.steps) {
    if (!selects_step(context, step)) continue;
    all.push_back(static_cast<double>(to_ns(step.window.length())));
    if (!step.edge && !step.empty) whole.push_back(all.back());
  }
  const std::size_t left_out = whole.empty() ? 0 : all.size() - whole.size();
  rows.section("step time");
  rows.show(Shown::in_full);
  rows.add("steps by", cell_of(source_text(steps)), "");
  rows.add_count("steps", all.size());
  if (left_out != 0) rows.add_count("edge steps left out", left_out);
  rows.show(Shown::in_brief);
  rows.add_count("steps", all.size(),
                 "by " + source_text(steps) +
                     (left_out == 0 ? "" : "; " + edge_steps(left_out) + " left out"));
  rows.show(Shown::always);
  const Summary summary = summarize(whole.empty() ? std::move(all) : std::move(whole));
  if (summary.count == 0) return;
  rows.add_ns("mean", summary.mean);
  if (summary.count == 1) return;
  rows.add_ns("median", summary.median);
  rows.add_ns("stddev", summary.stddev);
  rows.add_ns("min", summary.min);
  rows.add_ns("max", summary.max);
  if (summary.p95) rows.add_ns("p95", *summary.p95);
}

Result<Overview> compute(const Context& context) {
  Overview overview;
  OverviewRows rows(overview);
  // Not what it cannot do without: of a recording of samples alone its health can be judged.
  if (auto reason = missing(context, {.table = StoreTable::work})) {
    add_capture(context, rows);
    overview.notes.push_back(std::move(*reason));
    return overview;
  }
  std::optional<OpSelfTimes> ops;
  // Much of the work, and independent of the rest.
  const auto sum_operators = [&] { ops.emplace(compute_op_self_times(context)); };
  both_in_parallel(sum_operators, [&] {
    add_capture(context, rows);
    add_step_time(context, rows);
    add_devices(context, rows);
  });
  add_top_operators(*ops, rows);
  add_top_kernels(context, rows);
  if (!context.steps().note.empty()) overview.notes.push_back(context.steps().note);
  if (context.timelines().devices.empty())
    overview.notes.emplace_back("The trace holds no device activity.");
  return overview;
}

Report report() {
  return report_of<kColumns, compute>(
      {.id = "overview",
       .title = "The first look: capture, step time, devices, and what takes their time",
       .doc =
           "One row per metric. A device's window runs from the start of the first step to the "
           "end of the last, or "
           "is the selected window; compute, the exposed times and idle sum to it to the "
           "nanosecond. Exposed: "
           "with nothing of a stronger kind running, in the order compute, communication, "
           "memcpy, memset. Text leaves out what says nothing here, and of more than two devices "
           "shows the idlest; --wide shows every row.",
       .group_by = {},
       .sort = "",
       .example = "fathom overview trace.json.gz"});
}

}  // namespace
}  // namespace overview_report

Report overview() { return overview_report::report(); }

}  // namespace fathom
