// processes: who ran, how it ended, and what it used.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/machine/run_usage.h"
#include "reports/report.h"

namespace fathom {
namespace processes_report {
namespace {

using Processes = ReportRows<const ProcessRun*, const Trace*>;
using Run = Processes::Row;

std::int64_t wall_of(const ProcessRun& run) {
  if (run.wall_ns != kAbsent) return run.wall_ns;
  const bool both = run.start_ns != kAbsent && run.end_ns != kAbsent && run.end_ns >= run.start_ns;
  return both ? run.end_ns - run.start_ns : kAbsent;
}

std::optional<double> cpu_percent(const Run& run) {
  const std::int64_t wall = wall_of(*run);
  if (wall == kAbsent || run->user_ns == kAbsent || run->system_ns == kAbsent) return {};
  return percent_of(static_cast<double>(run->user_ns) + static_cast<double>(run->system_ns),
                    static_cast<double>(wall));
}

template <std::int64_t ProcessRun::*kMember>
std::optional<std::int64_t> known(const Run& run) {
  return int_or_null(run->*kMember);
}

template <StringId ProcessRun::*kMember>
std::optional<std::string_view> text_of(const Run& run, const Trace* trace) {
  return text_or_null(trace->text(run->*kMember));
}

constexpr Processes::Column kColumns[] = {
    {"pid", ColumnKind::integer, "", "Process id.", by<known<&ProcessRun::pid>>},
    {"parent", ColumnKind::integer, "", "Process id of who started it.",
     by<known<&ProcessRun::parent>>},
    {"role", ColumnKind::text, "", "main, rank, loader-worker or child.",
     by<text_of<&ProcessRun::role>>},
    {"rank", ColumnKind::integer, "", "Its rank in a distributed run.",
     [](const Run& run) { return run->rank < 0 ? std::nullopt : std::optional(run->rank); }},
    {"command", ColumnKind::name, "", "Its command, or what the program calls it.",
     by<text_of<&ProcessRun::name>>},
    {"start_ns", ColumnKind::time_ns, "ns", "When it began, or was first seen.",
     by<known<&ProcessRun::start_ns>>, true},
    {"wall_ns", ColumnKind::duration_ns, "ns", "How long it ran.",
     [](const Run& run) { return int_or_null(wall_of(*run)); }},
    {"user_ns", ColumnKind::duration_ns, "ns", "Processor time in the program.",
     by<known<&ProcessRun::user_ns>>},
    {"system_ns", ColumnKind::duration_ns, "ns", "Processor time in the kernel on its behalf.",
     by<known<&ProcessRun::system_ns>>},
    {"cpu_percent", ColumnKind::percent, "percent",
     "Processor time by wall time; 100 is one processor all the time.", by<cpu_percent>},
    {"peak_bytes", ColumnKind::bytes, "bytes", "Most memory that was resident at a time.",
     by<known<&ProcessRun::peak_bytes>>},
    {"read_bytes", ColumnKind::bytes, "bytes", "Read from storage.",
     by<known<&ProcessRun::read_bytes>>, true},
    {"written_bytes", ColumnKind::bytes, "bytes", "Written to storage.",
     by<known<&ProcessRun::written_bytes>>, true},
    {"exit", ColumnKind::text, "", "The exit code, or the signal that ended it.",
     [](const Run& run) { return made_or_null(exit_text(run->status)); }},
};

/// Parents before their children, children by when they began.
class Tree {
 public:
  explicit Tree(const std::vector<ProcessRun>& runs) : runs_(runs), seen_(runs.size(), false) {
    std::map<std::int64_t, std::size_t> by_pid;
    for (std::size_t i = 0; i < runs.size(); ++i) by_pid.emplace(runs[i].pid, i);
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto parent = by_pid.find(runs[i].parent);
      const bool child = parent != by_pid.end() && parent->second != i;
      (child ? children_[parent->second] : roots).push_back(i);
    }
    walk(std::move(roots));
    // A damaged table may have rings of parents.
    for (std::size_t i = 0; i < runs.size(); ++i) walk({i});
  }
  [[nodiscard]] std::vector<const ProcessRun*> take() { return std::move(order_); }

 private:
  /// Reversed: the next to be visited is at the back.
  void by_start(std::vector<std::size_t>& runs) const {
    std::ranges::sort(runs, [this](std::size_t a, std::size_t b) {
      return std::pair(runs_[a].start_ns, runs_[a].pid) >
             std::pair(runs_[b].start_ns, runs_[b].pid);
    });
  }
  void walk(std::vector<std::size_t> open) {
    by_start(open);
    while (!open.empty()) {
      const std::size_t run = open.back();
      open.pop_back();
      if (seen_[run]) continue;
      seen_[run] = true;
      order_.push_back(&runs_[run]);
      std::vector<std::size_t>& children = children_[run];
      by_start(children);
      open.insert(open.end(), children.begin(), children.end());
    }
  }

  const std::vector<ProcessRun>& runs_;
  std::map<std::size_t, std::vector<std::size_t>> children_;
  std::vector<bool> seen_;
  std::vector<const ProcessRun*> order_;
};

Result<Processes> compute(const Context& context) {
  const Trace& trace = context.trace;
  Processes processes{.rows = Tree(trace.process_runs).take(), .shared = &trace};
  const auto open =
      std::ranges::count_if(processes.rows, [](const Run& run) { return run->status < 0; });
  if (open > 0) {
    processes.notes.push_back("How " + std::to_string(open) + " of " +
                              std::to_string(processes.rows.size()) +
                              " processes ended was not recorded.");
  }
  return processes;
}

constexpr std::string_view kImportance[] = {"pid",         "command", "wall_ns",    "exit",
                                            "role",        "user_ns", "peak_bytes", "system_ns",
                                            "cpu_percent", "rank",    "parent"};

constexpr Need kNeeds[] = {{StoreTable::process_runs}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "processes",
       .title = "The processes of the run: time, memory, and how they ended",
       .doc =
           "One row per process, parents before their children. Wall, user and system time, peak "
           "memory and the way it ended are what the operating system said when it ended, as "
           "/usr/bin/time does.",
       .group_by = {},
       .sort = "",
       .example = "fathom processes fathom-runs/20260101-120000-train",
       .needs = kNeeds,
       .importance = kImportance,
       .whole = true});
}

}  // namespace
}  // namespace processes_report

Report processes() { return processes_report::report(); }

}  // namespace fathom
