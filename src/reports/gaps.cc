// gaps: each stretch of a device without any activity, with what opened it and who was late.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/accounting/accounting.h"
#include "analysis/accounting/groups.h"
#include "analysis/operators/call_sites.h"
#include "reports/gap_notes.h"
#include "reports/report.h"

namespace fathom {
namespace gaps_report {
namespace {

struct Row {
  const Gap* gap = nullptr;
};

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

struct Shared {
  const Context* context = nullptr;
  std::shared_ptr<const CallSites> sites;
  std::map<std::int32_t, StepFinder> steps;  ///< By device.

  [[nodiscard]] const Trace& trace() const { return context->trace; }
  /// Unset for an invalid one.
  [[nodiscard]] std::optional<std::string_view> name(SliceId slice) const {
    return slice.valid() ? std::optional(trace().name(slice)) : std::nullopt;
  }
  [[nodiscard]] Duration since_start(Time time) const { return time - trace().span.begin; }
};

using Gaps = ReportRows<Row, Shared>;

std::optional<std::int64_t> step_of(const Row& row, const Shared& shared) {
  const Step* const step = shared.steps.at(row.gap->device).at(row.gap->interval.begin);
  return step == nullptr ? std::nullopt : std::optional(step->number);
}

/// The part of the gap that its cause explains.
std::optional<double> cause_percent(const Row& row, const Shared& shared) {
  const DeviceAccounting* const device = shared.context->accounting().find(row.gap->device);
  const auto number = static_cast<std::uint32_t>(row.gap - device->gaps.data());
  Duration time{};
  const Column<IdlePiece>& pieces = device->pieces;
  for (auto piece = std::ranges::lower_bound(pieces, number, {}, &IdlePiece::gap);
       piece != pieces.end() && piece->gap == number; ++piece) {
    if (piece->cause == row.gap->cause) time += piece->interval.length();
  }
  return percent_of(time, row.gap->interval.length());
}

std::optional<std::string_view> opener_operator(const Row& row, const Shared& shared) {
  const SliceId call = row.gap->opener_call;
  if (!call.valid()) return {};
  return shared.name(enclosing_op(shared.trace(), shared.context->nesting(), call));
}

std::optional<std::string> line_of(const Row& row, const Shared& shared) {
  const Gap& gap = *row.gap;
  for (const SliceId at : {gap.late_frame, gap.late_op, gap.launch, gap.opener_call}) {
    if (!at.valid()) continue;
    std::string line = shared.sites->of(at);
    if (!line.empty()) return line;
  }
  if (!gap.late_frame.valid()) return {};
  return std::string(shared.trace().name(gap.late_frame));
}

std::optional<std::string_view> phase_of(const Row& row, const Shared& shared) {
  const Gap& gap = *row.gap;
  if (gap.cause == Bucket::input) return to_string(Phase::data);
  if (!gap.next.valid()) return {};
  return to_string(phase_of_activity(*shared.context, gap.next));
}

std::optional<std::string_view> next_operator(const Row& row, const Shared& shared) {
  const SliceId next = row.gap->next;
  if (!next.valid()) return {};
  return shared.name(shared.context->links().op[next.row()]);
}

std::optional<Duration> opener_start(const Row& row, const Shared& shared) {
  const SliceId call = row.gap->opener_call;
  if (!call.valid()) return {};
  return shared.since_start(shared.trace().slices.start[call.row()]);
}

constexpr Gaps::Column kColumns[] = {
    {"device", ColumnKind::integer, "", "Device that is idle.",
     [](const Row& row) { return row.gap->device; }},
    {"step", ColumnKind::integer, "", "Step in whose window it begins, or null.", by<step_of>},
    {"start_ns", ColumnKind::time_ns, "ns", "Start of the gap, from the start of the trace.",
     [](const Row& row, const Shared& shared) {
       return shared.since_start(row.gap->interval.begin);
     }},
    {"duration_ns", ColumnKind::duration_ns, "ns", "Length of the gap, uncut.",
     [](const Row& row) { return row.gap->interval.length(); }},
    {"cause", ColumnKind::text, "",
     "Bucket with the largest part of it: input, allocation, sync, dispatch, python, dependency, "
     "launch latency, device wait, host unknown or warm-up.",
     [](const Row& row) { return to_string(row.gap->cause); }},
    {"cause_percent", ColumnKind::percent, "percent", "That part of the gap.", by<cause_percent>,
     true},
    {"opener", ColumnKind::text, "",
     "What let the device run dry: sync call, ran dry (the host came too late), waiting (work was "
     "queued), start (nothing ran before) or unknown (the launch is not in the trace).",
     [](const Row& row) { return to_string(row.gap->opener); }},
    {"opener_call", ColumnKind::name, "", "Synchronising call that opened it.",
     [](const Row& row, const Shared& shared) { return shared.name(row.gap->opener_call); }},
    {"opener_operator", ColumnKind::name, "", "Innermost operator around that call.",
     by<opener_operator>, true},
    {"late_operator", ColumnKind::name, "",
     "Operator or data-loader fetch that cost the host most of the gap; else the one that "
     "launched the next activity.",
     [](const Row& row, const Shared& shared) { return shared.name(row.gap->late_op); }},
    {"python_line", ColumnKind::name, "",
     "Line of the user's code that the host was at, or that called that operator. Of a function "
     "that "
     "ran when the recording began only its file and name are known.",
     by<line_of>},
    {"phase", ColumnKind::text, "", "Phase of the next activity; data where data was fetched.",
     by<phase_of>, true},
    {"next_activity", ColumnKind::name, "", "Kernel, copy or fill that ends it.",
     [](const Row& row, const Shared& shared) { return shared.name(row.gap->next); }},
    {"next_operator", ColumnKind::name, "", "Operator that launched that.", by<next_operator>,
     true},
    {"opener_start_ns", ColumnKind::time_ns, "ns",
     "Start of the synchronising call, from the start of the trace.", by<opener_start>, true},
};

void add_device(const Context& context, const DeviceAccounting& device, Gaps& gaps) {
  gaps.shared.steps.emplace(device.device, StepFinder(context.steps(), device.device));
  const Interval window = context.window();
  for (const Gap& gap : device.gaps) {
    if (gap.interval.end <= window.begin || window.end <= gap.interval.begin) continue;
    gaps.rows.push_back({&gap});
  }
}

Result<Gaps> compute(const Context& context) {
  Gaps gaps{.shared = {&context, std::make_shared<const CallSites>(context), {}}};
  for (const DeviceAccounting& device : context.accounting().devices) {
    if (context.selection.device && device.device != *context.selection.device) continue;
    add_device(context, device, gaps);
  }
  note_unasked_gaps(context, gaps.notes);
  return gaps;
}

constexpr std::string_view kImportance[] = {"device",      "duration_ns",  "cause", "late_operator",
                                            "python_line", "opener",       "step",  "start_ns",
                                            "opener_call", "next_activity"};

constexpr Need kNeeds[] = {{StoreTable::activities}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "gaps",
       .title = "Each idle stretch of a device: what opened it, who was late, at which line",
       .doc = "A row per stretch without any activity on a device, from the start of the trace to "
              "its end; the rows sum to the idle time. `accounting` cuts a gap into parts by "
              "cause, here the largest names it. With --steps or --window, the gaps that overlap "
              "them are shown whole.",
       .group_by = {},
       .sort = "-duration_ns",
       .example = "fathom gaps trace.json.gz --limit 20",
       .needs = kNeeds,
       .importance = kImportance});
}

}  // namespace
}  // namespace gaps_report

Report gaps() { return gaps_report::report(); }

}  // namespace fathom
