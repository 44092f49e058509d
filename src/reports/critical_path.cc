// critical-path: what each step's end had to wait for, by kind of work and by who led it.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "replay/replay.h"
#include "reports/report.h"
#include "reports/rows.h"
#include "reports/step_selection.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"step", ColumnKind::integer, "", "By step: its number.", true, "step"},
    {"edge", ColumnKind::flag, "",
     "By step: not whole, and left out of everything but this grouping.", true},
    {"part", ColumnKind::text, "",
     "What the path runs through: host, launch (from the call to the start on the device, and "
     "between activities of a stream), device, communication, copy, or wait (for an event, for the "
     "device to be noticed, or for what nothing in the trace explains)."},
    {"name", ColumnKind::name, "",
     "By name: the innermost operator or call on the host; the kernel, copy or fill; the "
     "activity that was launched; the waiting call.",
     true, "name"},
    {"time_ns", ColumnKind::duration_ns, "ns", "Length of these stretches of the path."},
    {"per_step_ns", ColumnKind::duration_ns, "ns", "time_ns over the number of steps."},
    {"percent", ColumnKind::percent, "percent",
     "time_ns of the steps' windows; by step, of its window."},
    {"stretches", ColumnKind::count, "", "Pieces of the path that this is the sum of.", true},
    {"leading", ColumnKind::name, "",
     "The operator, kernel or call with the largest share of it; null by name."},
    {"leading_percent", ColumnKind::percent, "percent", "That share of time_ns."},
};

constexpr std::string_view kGroupBy[] = {"part", "step", "name"};

struct Sum {
  Duration time{};
  std::uint64_t stretches = 0;
  void add(const Interval& interval) {
    time += interval.length();
    ++stretches;
  }
};

/// Stretches of the path, by part and by the name of what was at work; invalid where nobody was.
using ByName = std::map<std::pair<PathPart, StringId>, Sum>;

ByName sum_up(const Trace& trace, const Replay& replay, const Step& step, ByName sums = {}) {
  for (const PathPiece& piece : replay.critical_path(step)) {
    const StringId name = piece.slice.valid() ? trace.slices.name[piece.slice.row()] : StringId();
    sums[{piece.part, name}].add(piece.interval);
  }
  return sums;
}

class Rows {
 public:
  Rows(const Trace& trace, Table& table) : trace_(trace), table_(table) {}

  /// A row per part; `step` is null where the sums are of several.
  void add_parts(const ByName& sums, const Step* step, std::size_t steps, Duration window) {
    std::vector<std::pair<PathPart, Sum>> parts;
    for (std::size_t i = 0; i < kPathParts; ++i) {
      Sum sum;
      for (auto at = first(sums, i); at != first(sums, i + 1); ++at) {
        sum.time += at->second.time;
        sum.stretches += at->second.stretches;
      }
      if (sum.stretches > 0) parts.emplace_back(static_cast<PathPart>(i), sum);
    }
    std::ranges::stable_sort(parts, std::ranges::greater(),
                             [](const auto& part) { return part.second.time; });
    for (const auto& [part, sum] : parts) {
      add(step, part, {}, sum, steps, window);
      add_leading(sums, part, sum.time);
    }
  }

  /// A row per part and name.
  void add_names(const ByName& sums, std::size_t steps, Duration window) {
    std::vector<ByName::const_iterator> order;
    for (auto at = sums.begin(); at != sums.end(); ++at) order.push_back(at);
    std::ranges::sort(order, [this](ByName::const_iterator a, ByName::const_iterator b) {
      if (a->second.time != b->second.time) return a->second.time > b->second.time;
      if (a->first.first != b->first.first) return a->first.first < b->first.first;
      return name_of(a->first.second) < name_of(b->first.second);
    });
    for (const auto at : order)
      add(nullptr, at->first.first, name_of(at->first.second), at->second, steps, window);
  }

 private:
  static ByName::const_iterator first(const ByName& sums, std::size_t part) {
    return sums.lower_bound({static_cast<PathPart>(part), StringId(std::size_t{0})});
  }
  [[nodiscard]] std::string name_of(StringId name) const {
    return name.valid() ? std::string(trace_.text(name)) : "(nothing recorded)";
  }

  void add(const Step* step, PathPart part, const std::string& name, const Sum& sum,
           std::size_t steps, Duration window) {
    table_.rows.push_back(
        {step == nullptr ? Value() : int_value(step->number),
         step == nullptr ? Value() : Value(step->edge), text_value(to_string(part)),
         text_or_null(name), ns_value(sum.time),
         ns_value(sum.time / static_cast<std::int64_t>(steps)),
         percent_value(static_cast<double>(to_ns(sum.time)), static_cast<double>(to_ns(window))),
         int_value(sum.stretches), Value(), Value()});
  }

  /// To the last row: who has the largest share of the part.
  void add_leading(const ByName& sums, PathPart part, Duration whole) {
    const auto number = static_cast<std::size_t>(part);
    const auto leading = std::max_element(
        first(sums, number), first(sums, number + 1), [this](const auto& a, const auto& b) {
          if (a.second.time != b.second.time) return a.second.time < b.second.time;
          return name_of(a.first.second) > name_of(b.first.second);
        });
    std::vector<Value>& row = table_.rows.back();
    row[row.size() - 2] = text_value(name_of(leading->first.second));
    row.back() = percent_value(static_cast<double>(to_ns(leading->second.time)),
                               static_cast<double>(to_ns(whole)));
  }

  const Trace& trace_;
  Table& table_;
};

/// The selected steps; but for the grouping by step only those that count, if any does.
std::vector<const Step*> steps_of(const Context& context, bool all) {
  std::vector<const Step*> steps;
  for (const Step& step : context.steps().steps) {
    if (selects_step(context, step) && step.window.length() > Duration{}) steps.push_back(&step);
  }
  if (all || std::ranges::all_of(steps, [](const Step* step) { return step->edge; })) return steps;
  std::erase_if(steps, [](const Step* step) { return step->edge; });
  return steps;
}

void add_notes(const Context& context, const Replay& replay, Table& table) {
  if (!context.steps().note.empty()) table.notes.push_back(context.steps().note);
  const Residuals residuals = replay.residuals();
  table.notes.push_back("Delays that no dependency in the trace explains make up " +
                        percent_text(residuals.percent()) + " of the steps; they are in wait.");
}

Result<Table> compute(const Context& context) {
  Table table;
  const std::string& by = context.options.group_by;
  const std::vector<const Step*> steps = steps_of(context, by == "step");
  if (steps.empty()) return table;
  const Replay replay = Replay::build(context);
  Rows rows(context.trace, table);
  ByName sums;
  Duration window{};
  for (const Step* const step : steps) {
    if (by == "step") {
      rows.add_parts(sum_up(context.trace, replay, *step), step, 1, step->window.length());
      continue;
    }
    sums = sum_up(context.trace, replay, *step, std::move(sums));
    window += step->window.length();
  }
  if (by == "name") {
    rows.add_names(sums, steps.size(), window);
  } else if (by != "step") {
    rows.add_parts(sums, nullptr, steps.size(), window);
  }
  add_notes(context, replay, table);
  return table;
}

constexpr std::string_view kImportance[] = {"part",        "time_ns", "percent",
                                            "per_step_ns", "leading", "leading_percent"};

}  // namespace

Report critical_path() {
  return {.id = "critical-path",
          .title = "What the end of each step had to wait for, and which operators lead there",
          .doc =
              "The chain of dependencies that determines when a step ends, over the steps that "
              "count: a row per part, or per step and part, or per part and name. At every instant "
              "of a step's window the path is in one part, so the parts sum to the windows to the "
              "nanosecond. Only what lies on the path can make the step shorter; docs/replay.md "
              "explains how it is found.",
          .columns = kColumns,
          .group_by = kGroupBy,
          .sort = "",
          .example = "fathom critical-path trace.json.gz --group-by name --limit 20",
          .compute = compute,
          .importance = kImportance};
}

}  // namespace fathom
