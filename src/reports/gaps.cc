// gaps: each stretch of a device without any activity, with what opened it and who was late.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/accounting/accounting.h"
#include "analysis/accounting/groups.h"
#include "analysis/operators/call_sites.h"
#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"device", ColumnKind::integer, "", "Device that is idle."},
    {"step", ColumnKind::integer, "", "Step in whose window it begins, or null."},
    {"start_ns", ColumnKind::time_ns, "ns", "Start of the gap, from the start of the trace."},
    {"duration_ns", ColumnKind::duration_ns, "ns", "Length of the gap, uncut."},
    {"cause", ColumnKind::text, "",
     "Bucket with the largest part of it: input, allocation, sync, dispatch, python, dependency, "
     "launch latency, device wait or host unknown."},
    {"cause_percent", ColumnKind::percent, "percent", "That part of the gap.", true},
    {"opener", ColumnKind::text, "",
     "What let the device run dry: sync call, ran dry (the host came too late), waiting (work was "
     "queued), start (nothing ran before) or unknown (the launch is not in the trace)."},
    {"opener_call", ColumnKind::name, "", "Synchronising call that opened it."},
    {"opener_operator", ColumnKind::name, "", "Innermost operator around that call.", true},
    {"late_operator", ColumnKind::name, "",
     "Operator or data-loader fetch that cost the host most of the gap; else the one that "
     "launched the next activity."},
    {"python_line", ColumnKind::name, "",
     "Line of the user's code that the host was at, or that called that operator."},
    {"phase", ColumnKind::text, "", "Phase of the next activity; data where data was fetched.",
     true},
    {"next_activity", ColumnKind::name, "", "Kernel, copy or fill that ends it."},
    {"next_operator", ColumnKind::name, "", "Operator that launched that.", true},
    {"opener_start_ns", ColumnKind::time_ns, "ns",
     "Start of the synchronising call, from the start of the trace.", true},
};

Value name_or_null(const Trace& trace, SliceId slice) {
  return slice.valid() ? text_value(trace.name(slice)) : Value();
}

/// Step windows of one device, by time, to look up moments.
class StepFinder {
 public:
  StepFinder(const Steps& steps, std::int32_t device) {
    for (const Step& step : steps.steps) {
      if (steps.uses(step, device)) steps_.push_back(&step);
    }
    std::ranges::stable_sort(steps_, {}, [](const Step* step) { return step->window.begin; });
  }
  [[nodiscard]] const Step* at(Time time) const {
    const auto after = std::ranges::upper_bound(
        steps_, time, {}, [](const Step* step) { return step->window.begin; });
    if (after == steps_.begin()) return nullptr;
    const Step* const step = *std::prev(after);
    return time < step->window.end ? step : nullptr;
  }

 private:
  std::vector<const Step*> steps_;
};

class Rows {
 public:
  explicit Rows(const Context& context)
      : context_(context), trace_(context.trace), sites_(context) {}

  void add_device(const DeviceAccounting& device, Table& table) {
    const StepFinder steps(context_.steps(), device.device);
    const Interval window = context_.window();
    std::size_t piece = 0;
    for (std::size_t i = 0; i < device.gaps.size(); ++i) {
      const Gap& gap = device.gaps[i];
      Duration of_cause{};
      for (; piece < device.pieces.size() && device.pieces[piece].gap == i; ++piece) {
        if (device.pieces[piece].cause != gap.cause) continue;
        of_cause += device.pieces[piece].interval.length();
      }
      if (gap.interval.end <= window.begin || window.end <= gap.interval.begin) continue;
      table.rows.push_back(row_of(gap, of_cause, steps.at(gap.interval.begin)));
    }
  }

 private:
  std::vector<Value> row_of(const Gap& gap, Duration of_cause, const Step* step) const {
    const SliceId call = gap.opener_call;
    const Links& links = context_.links();
    return {
        int_value(gap.device),
        step == nullptr ? Value() : int_value(step->number),
        ns_value(gap.interval.begin - trace_.span.begin),
        ns_value(gap.interval.length()),
        text_value(to_string(gap.cause)),
        percent_value(static_cast<double>(to_ns(of_cause)),
                      static_cast<double>(to_ns(gap.interval.length()))),
        text_value(to_string(gap.opener)),
        name_or_null(trace_, call),
        call.valid() ? name_or_null(trace_, enclosing_op(trace_, context_.nesting(), call))
                     : Value(),
        name_or_null(trace_, gap.late_op),
        line_of(gap),
        phase_of(gap),
        name_or_null(trace_, gap.next),
        gap.next.valid() ? name_or_null(trace_, links.op[gap.next.row()]) : Value(),
        call.valid() ? ns_value(trace_.slices.start[call.row()] - trace_.span.begin) : Value(),
    };
  }

  [[nodiscard]] Value line_of(const Gap& gap) const {
    for (const SliceId at : {gap.late_frame, gap.late_op, gap.launch, gap.opener_call}) {
      if (!at.valid()) continue;
      const std::string line = sites_.of(at);
      if (!line.empty()) return line;
    }
    return gap.late_frame.valid() ? text_value(trace_.name(gap.late_frame)) : Value();
  }

  [[nodiscard]] Value phase_of(const Gap& gap) const {
    if (gap.cause == Bucket::input) return text_value(to_string(Phase::data));
    return gap.next.valid() ? text_value(to_string(phase_of_activity(context_, gap.next)))
                            : Value();
  }

  const Context& context_;
  const Trace& trace_;
  CallSites sites_;
};

Result<Table> compute(const Context& context) {
  Table table;
  Rows rows(context);
  for (const DeviceAccounting& device : context.accounting().devices) {
    if (context.selection.device && device.device != *context.selection.device) continue;
    rows.add_device(device, table);
  }
  if (context.timelines().devices.empty()) {
    table.notes.emplace_back("The trace holds no device activity.");
  }
  return table;
}

constexpr std::string_view kImportance[] = {"device",      "duration_ns",  "cause", "late_operator",
                                            "python_line", "opener",       "step",  "start_ns",
                                            "opener_call", "next_activity"};

}  // namespace

Report gaps() {
  return {.id = "gaps",
          .title = "Each idle stretch of a device: what opened it, who was late, at which line",
          .doc =
              "A row per stretch without any activity on a device, from the start of the trace to "
              "its end; the rows sum to the idle time. `accounting` cuts a gap into parts by "
              "cause, here the largest names it. With --steps or --window, the gaps that overlap "
              "them are shown whole.",
          .columns = kColumns,
          .group_by = {},
          .sort = "-duration_ns",
          .example = "fathom gaps trace.json.gz --limit 20",
          .compute = compute,
          .importance = kImportance};
}

}  // namespace fathom
