// processes: who ran, how it ended, and what it used.
#include <algorithm>
#include <map>

#include "analysis/machine/run_usage.h"
#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"pid", ColumnKind::integer, "", "Process id."},
    {"parent", ColumnKind::integer, "", "Process id of who started it."},
    {"role", ColumnKind::text, "", "main, rank, loader-worker or child."},
    {"rank", ColumnKind::integer, "", "Its rank in a distributed run."},
    {"command", ColumnKind::name, "", "Its command, or what the program calls it."},
    {"start_ns", ColumnKind::time_ns, "ns", "When it began, or was first seen.", true},
    {"wall_ns", ColumnKind::duration_ns, "ns", "How long it ran."},
    {"user_ns", ColumnKind::duration_ns, "ns", "Processor time in the program."},
    {"system_ns", ColumnKind::duration_ns, "ns", "Processor time in the kernel on its behalf."},
    {"cpu_percent", ColumnKind::percent, "percent",
     "Processor time by wall time; 100 is one processor all the time."},
    {"peak_bytes", ColumnKind::bytes, "bytes", "Most memory that was resident at a time."},
    {"read_bytes", ColumnKind::bytes, "bytes", "Read from storage.", true},
    {"written_bytes", ColumnKind::bytes, "bytes", "Written to storage.", true},
    {"exit", ColumnKind::text, "", "The exit code, or the signal that ended it."},
};

std::int64_t wall_of(const ProcessRun& run) {
  if (run.wall_ns != kAbsent) return run.wall_ns;
  const bool both = run.start_ns != kAbsent && run.end_ns != kAbsent && run.end_ns >= run.start_ns;
  return both ? run.end_ns - run.start_ns : kAbsent;
}

Value cpu_percent(const ProcessRun& run) {
  const std::int64_t wall = wall_of(run);
  if (wall == kAbsent || run.user_ns == kAbsent || run.system_ns == kAbsent) return {};
  return percent_value(static_cast<double>(run.user_ns) + static_cast<double>(run.system_ns),
                       static_cast<double>(wall));
}

std::vector<Value> row_of(const Trace& trace, const ProcessRun& run) {
  return {int_or_null(run.pid),
          int_or_null(run.parent),
          text_or_null(trace.text(run.role)),
          run.rank < 0 ? Value() : int_value(run.rank),
          text_or_null(trace.text(run.name)),
          int_or_null(run.start_ns),
          int_or_null(wall_of(run)),
          int_or_null(run.user_ns),
          int_or_null(run.system_ns),
          cpu_percent(run),
          int_or_null(run.peak_bytes),
          int_or_null(run.read_bytes),
          int_or_null(run.written_bytes),
          text_or_null(exit_text(run.status))};
}

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
  [[nodiscard]] const std::vector<const ProcessRun*>& order() const { return order_; }

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

Result<Table> compute(const Context& context) {
  const Trace& trace = context.trace;
  Table table;
  std::size_t open = 0;
  const Tree tree(trace.process_runs);
  for (const ProcessRun* const run : tree.order()) {
    table.rows.push_back(row_of(trace, *run));
    open += run->status < 0 ? 1 : 0;
  }
  if (table.rows.empty())
    table.notes.emplace_back("No processes were recorded; fathom run records them.");
  if (open > 0) {
    table.notes.push_back("How " + std::to_string(open) + " of " +
                          std::to_string(table.rows.size()) + " processes ended was not recorded.");
  }
  return table;
}

constexpr std::string_view kImportance[] = {"pid",         "command", "wall_ns",    "exit",
                                            "role",        "user_ns", "peak_bytes", "system_ns",
                                            "cpu_percent", "rank",    "parent"};

}  // namespace

Report processes() {
  return {
      .id = "processes",
      .title = "The processes of the run: time, memory, and how they ended",
      .doc =
          "One row per process, parents before their children. Wall, user and system time, peak "
          "memory and the way it ended are what the operating system said when it ended, as "
          "/usr/bin/time does.",
      .columns = kColumns,
      .group_by = {},
      .sort = "",
      .example = "fathom processes fathom-runs/20260101-120000-train",
      .compute = compute,
      .importance = kImportance,
      .whole = true};
}

}  // namespace fathom
