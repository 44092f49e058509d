// critical-path: what each step's end had to wait for, by kind of work and by who led it.
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "replay/replay.h"
#include "reports/report.h"
#include "reports/step_selection.h"

namespace fathom {
namespace critical_path_report {
namespace {

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

/// Stretches of the path: those of one part, or of one part and name.
struct Row {
  const Step* step = nullptr;  ///< Null where they are of several.
  PathPart part{};
  Sum sum;
  std::size_t steps = 0;
  Duration window{};                ///< Of these steps.
  std::optional<StringId> name;     ///< By name.
  std::optional<StringId> leading;  ///< By part: who has the largest share.
  Duration leading_time{};
};
using Path = ReportRows<Row, const Trace*>;

std::string_view name_of(const Trace& trace, StringId name) {
  return name.valid() ? trace.text(name) : "(nothing recorded)";
}

std::optional<std::string_view> own_name(const Row& row, const Trace* trace) {
  return row.name ? text_or_null(name_of(*trace, *row.name)) : std::nullopt;
}

std::optional<std::string_view> leading_name(const Row& row, const Trace* trace) {
  return row.leading ? std::optional(name_of(*trace, *row.leading)) : std::nullopt;
}

std::optional<double> leading_percent(const Row& row) {
  return row.leading ? percent_of(row.leading_time, row.sum.time) : std::nullopt;
}

std::optional<std::int64_t> step_number(const Row& row) {
  return row.step == nullptr ? std::nullopt : std::optional(row.step->number);
}

std::optional<bool> step_edge(const Row& row) {
  return row.step == nullptr ? std::nullopt : std::optional(row.step->edge);
}

constexpr Path::Column kColumns[] = {
    {"step", ColumnKind::integer, "", "By step: its number.", by<step_number>, true, "step"},
    {"edge", ColumnKind::flag, "",
     "By step: not whole, and left out of everything but this grouping.", by<step_edge>, true},
    {"part", ColumnKind::text, "",
     "What the path runs through: host, launch (from call to start on the device, and between "
     "activities of a stream), device, communication, copy, or wait (for an event, for the device "
     "to be noticed, or unexplained by the trace).",
     [](const Row& row) { return to_string(row.part); }},
    {"name", ColumnKind::name, "",
     "By name: the innermost operator or call on the host; the kernel, copy or fill; the "
     "activity that was launched; the waiting call.",
     by<own_name>, true, "name"},
    {"time_ns", ColumnKind::duration_ns, "ns", "Length of these stretches of the path.",
     [](const Row& row) { return row.sum.time; }},
    {"per_step_ns", ColumnKind::duration_ns, "ns", "time_ns over the number of steps.",
     [](const Row& row) { return row.sum.time / static_cast<std::int64_t>(row.steps); }},
    {"percent", ColumnKind::percent, "percent",
     "time_ns of the steps' windows; by step, of its window.",
     [](const Row& row) { return percent_of(row.sum.time, row.window); }},
    {"stretches", ColumnKind::count, "", "Pieces of the path that this is the sum of.",
     [](const Row& row) { return row.sum.stretches; }, true},
    {"leading", ColumnKind::name, "",
     "The operator, kernel or call with the largest share of it; null by name.", by<leading_name>},
    {"leading_percent", ColumnKind::percent, "percent", "That share of time_ns.",
     by<leading_percent>},
};

class PathRows {
 public:
  PathRows(const Trace& trace, std::vector<Row>& rows) : trace_(trace), rows_(rows) {}

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
      const auto& [key, most] = *leading(sums, part);
      rows_.push_back({.step = step,
                       .part = part,
                       .sum = sum,
                       .steps = steps,
                       .window = window,
                       .name = {},
                       .leading = key.second,
                       .leading_time = most.time});
    }
  }

  /// A row per part and name.
  void add_names(const ByName& sums, std::size_t steps, Duration window) {
    std::vector<ByName::const_iterator> order;
    for (auto at = sums.begin(); at != sums.end(); ++at) order.push_back(at);
    // Merging: of many equal times, with names in an order of their own, quicksort makes twice as
    // much work.
    std::ranges::stable_sort(order, [this](ByName::const_iterator a, ByName::const_iterator b) {
      if (a->second.time != b->second.time) return a->second.time > b->second.time;
      if (a->first.first != b->first.first) return a->first.first < b->first.first;
      return name_of(trace_, a->first.second) < name_of(trace_, b->first.second);
    });
    for (const auto at : order) {
      rows_.push_back({.step = nullptr,
                       .part = at->first.first,
                       .sum = at->second,
                       .steps = steps,
                       .window = window,
                       .name = at->first.second,
                       .leading = {}});
    }
  }

 private:
  static ByName::const_iterator first(const ByName& sums, std::size_t part) {
    return sums.lower_bound({static_cast<PathPart>(part), StringId(std::size_t{0})});
  }

  /// Who has the largest share of the part.
  [[nodiscard]] ByName::const_iterator leading(const ByName& sums, PathPart part) const {
    const auto number = static_cast<std::size_t>(part);
    return std::max_element(
        first(sums, number), first(sums, number + 1), [this](const auto& a, const auto& b) {
          if (a.second.time != b.second.time) return a.second.time < b.second.time;
          return name_of(trace_, a.first.second) > name_of(trace_, b.first.second);
        });
  }

  const Trace& trace_;
  std::vector<Row>& rows_;
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

void add_notes(const Context& context, const Replay& replay, Path& path) {
  if (!context.steps().note.empty()) path.notes.push_back(context.steps().note);
  const Residuals residuals = replay.residuals();
  path.notes.push_back("Delays that no dependency in the trace explains make up " +
                       percent_text(residuals.percent()) + " of the steps; they are in wait.");
}

Result<Path> compute(const Context& context) {
  Path path{.shared = &context.trace};
  const std::string& by = context.options.group_by;
  const std::vector<const Step*> steps = steps_of(context, by == "step");
  if (steps.empty()) return path;
  const Replay replay = Replay::build(context);
  PathRows rows(context.trace, path.rows);
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
  add_notes(context, replay, path);
  return path;
}

constexpr Need kNeeds[] = {{StoreTable::work}};
constexpr std::string_view kImportance[] = {"part",        "time_ns", "percent",
                                            "per_step_ns", "leading", "leading_percent"};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "critical-path",
       .title = "What the end of each step had to wait for, and which operators lead there",
       .doc = "The chain of dependencies that determines when a step ends, over the steps that "
              "count: a row per part, or per step and part, or per part and name. At every instant "
              "of a step's window the path is in one part, so the parts sum to the windows to the "
              "nanosecond. Only what lies on the path can make the step shorter; docs/replay.md "
              "explains how it is found.",
       .group_by = kGroupBy,
       .sort = "",
       .example = "fathom critical-path trace.json.gz --group-by name --limit 20",
       .needs = kNeeds,
       .none = "No step has a length.",
       .importance = kImportance});
}

}  // namespace
}  // namespace critical_path_report

Report critical_path() { return critical_path_report::report(); }

}  // namespace fathom
