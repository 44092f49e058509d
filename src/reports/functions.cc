// functions: the deterministic profile of Python functions, as cProfile's pstats shows it.
#include <algorithm>
#include <map>
#include <tuple>

#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"function", ColumnKind::name, "", "Its name; with its class where Python shows it."},
    {"location", ColumnKind::name, "", "File and line where it is defined."},
    {"process", ColumnKind::integer, "", "Process id, with --group-by process.", false, "process"},
    {"calls", ColumnKind::count, "", "How often it was called."},
    {"self_ns", ColumnKind::duration_ns, "ns", "Time in it, without what it called."},
    {"self_percent", ColumnKind::percent, "percent", "Its own time, of that of all functions."},
    {"self_per_call_ns", ColumnKind::duration_ns, "ns", "Own time per call, rounded.", true},
    {"total_ns", ColumnKind::duration_ns, "ns",
     "Time from call to return. Of one that calls itself, each call counts."},
    {"total_per_call_ns", ColumnKind::duration_ns, "ns", "Total time per call, rounded.", true},
};

constexpr std::string_view kGroupBy[] = {"function", "process"};

/// Names and files by their text: two processes have ids of their own for them.
using Key = std::tuple<std::string_view, std::uint32_t, std::string_view, std::int64_t>;

struct Sum {
  std::uint64_t calls = 0;
  Duration self{};
  Duration total{};
};

/// "train.py:12"; what the interpreter itself has is nowhere.
std::string location_of(std::string_view file, std::uint32_t line) {
  if (file.empty() || file == "~") return {};
  return line == 0 ? std::string(file) : std::string(file) + ":" + std::to_string(line);
}

Value per_call(Duration time, std::uint64_t calls) {
  if (calls == 0) return {};
  const auto count = static_cast<std::int64_t>(calls);
  return int_value((to_ns(time) + count / 2) / count);
}

Result<Table> compute(const Context& context) {
  const Trace& trace = context.trace;
  const bool by_process = context.options.group_by == "process";
  std::map<Key, Sum> sums;
  Duration all{};
  for (const FunctionTime& function : trace.functions) {
    Sum& sum = sums[{trace.text(function.file), function.line, trace.text(function.name),
                     by_process ? function.pid : kAbsent}];
    sum.calls += function.calls;
    sum.self += function.self;
    sum.total += function.total;
    all += function.self;
  }
  Table table;
  for (const auto& [key, sum] : sums) {
    const auto& [file, line, name, pid] = key;
    table.rows.push_back(
        {text_value(name), text_or_null(location_of(file, line)), int_or_null(pid),
         int_value(sum.calls), ns_value(sum.self),
         percent_value(static_cast<double>(to_ns(sum.self)), static_cast<double>(to_ns(all))),
         per_call(sum.self, sum.calls), ns_value(sum.total), per_call(sum.total, sum.calls)});
  }
  if (table.rows.empty()) {
    table.notes.emplace_back(
        "The recording holds no profile of functions; fathom run --with functions records that of "
        "Python programs.");
  }
  return table;
}

constexpr std::string_view kImportance[] = {"function",     "self_ns",  "calls",  "total_ns",
                                            "self_percent", "location", "process"};

}  // namespace

Report functions() {
  return {
      .id = "functions",
      .title = "Functions of a Python program: calls, own and total time, as cProfile has them",
      .doc =
          "One row per function over all threads and processes, or per process and function with "
          "--group-by process. Own times sum to the time that the profiled threads spent in Python "
          "and in what it called; total times overlap, for a caller's holds its callees'. It is "
          "recorded by fathom run --with functions, which slows a program down: short functions "
          "that are called often appear longer than they are.",
      .columns = kColumns,
      .group_by = kGroupBy,
      .sort = "-self_ns",
      .example = "fathom functions fathom-runs/20260101-120000-train --limit 20",
      .compute = compute,
      .importance = kImportance,
      .whole = true};
}

}  // namespace fathom
