// functions: the deterministic profile of Python functions, as cProfile's pstats shows it.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "reports/profile_parts.h"
#include "reports/report.h"

namespace fathom {
namespace functions_report {
namespace {

/// A function of all processes or of one. Texts are the trace's.
struct Function {
  std::string_view name;
  std::string_view file;
  std::uint32_t line = 0;
  std::int64_t pid = kAbsent;
  std::uint64_t calls = 0;
  Duration self{};
  Duration total{};
};

struct Sum {
  Duration self{};  ///< Of all rows.
};
using Functions = ReportRows<Function, Sum>;

/// "train.py:12"; what the interpreter itself has is nowhere.
std::optional<std::string> location_of(const Function& function) {
  if (function.file.empty() || function.file == "~") return {};
  std::string location(function.file);
  return function.line == 0 ? location : location + ":" + std::to_string(function.line);
}

std::optional<std::int64_t> per_call(Duration time, std::uint64_t calls) {
  if (calls == 0) return {};
  const auto count = static_cast<std::int64_t>(calls);
  return (to_ns(time) + count / 2) / count;
}

constexpr Functions::Column kColumns[] = {
    {"function", ColumnKind::name, "", "Its name; with its class where Python shows it.",
     by<&Function::name>},
    {"location", ColumnKind::name, "", "File and line where it is defined.", by<location_of>},
    {"process", ColumnKind::integer, "", "Process id, with --group-by process.",
     [](const Function& function) { return int_or_null(function.pid); }, false, "process"},
    {"calls", ColumnKind::count, "", "How often it was called.", by<&Function::calls>},
    {"self_ns", ColumnKind::duration_ns, "ns", "Time in it, without what it called.",
     by<&Function::self>},
    {"self_percent", ColumnKind::percent, "percent", "Its own time, of that of all functions.",
     [](const Function& function, const Sum& sum) { return percent_of(function.self, sum.self); }},
    {"self_per_call_ns", ColumnKind::duration_ns, "ns", "Own time per call, rounded.",
     [](const Function& function) { return per_call(function.self, function.calls); }, true},
    {"total_ns", ColumnKind::duration_ns, "ns",
     "Time from call to return; of one that calls itself, of the outermost call.",
     by<&Function::total>},
    {"total_per_call_ns", ColumnKind::duration_ns, "ns", "Total time per call, rounded.",
     [](const Function& function) { return per_call(function.total, function.calls); }, true},
};

constexpr std::string_view kGroupBy[] = {"function", "process"};

/// Names and files by their text: two processes have ids of their own for them.
using Key = std::tuple<std::string_view, std::uint32_t, std::string_view, std::int64_t>;

Result<Functions> compute(const Context& context) {
  const Trace& trace = context.trace;
  const bool by_process = context.options.group_by == "process";
  std::map<Key, Function> sums;
  Functions functions;
  ProfileParts parts(context);
  parts.each(trace.functions, trace.function_parts, [&](const FunctionTime& function) {
    const Key key{trace.text(function.file), function.line, trace.text(function.name),
                  by_process ? function.pid : kAbsent};
    const auto& [file, line, name, pid] = key;
    Function& sum = sums.try_emplace(key, Function{name, file, line, pid}).first->second;
    sum.calls += function.calls;
    sum.self += function.self;
    sum.total += function.total;
    functions.shared.self += function.self;
  });
  parts.note("Calls and times", functions.notes);
  if (context.selection.device)
    functions.notes.emplace_back("Functions belong to no device: those of all are shown.");
  for (const auto& [key, sum] : sums) functions.rows.push_back(sum);
  return functions;
}

constexpr std::string_view kImportance[] = {"function",     "self_ns",  "calls",  "total_ns",
                                            "self_percent", "location", "process"};

constexpr Need kNeeds[] = {{StoreTable::functions}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "functions",
       .title = "Functions of a Python program: calls, own and total time, as cProfile has them",
       .doc =
           "One row per function over all threads and processes, or per process and function with "
           "--group-by process. Own times sum to the time that the profiled threads spent in "
           "Python "
           "and in what it called; total times overlap, for a caller's holds its callees'. It is "
           "recorded by fathom run --with functions, with --with functions=c of functions of C, "
           "too. "
           "Short functions that are called often appear longer than they are. With --steps or "
           "--window calls count where they began, and of a call that goes on in the next step "
           "each "
           "has its part of the time: all parts sum to the whole run.",
       .group_by = kGroupBy,
       .sort = "-self_ns",
       .example = "fathom functions fathom-runs/20260101-120000-train --limit 20",
       .needs = kNeeds,
       .importance = kImportance});
}

}  // namespace
}  // namespace functions_report

Report functions() { return functions_report::report(); }

}  // namespace fathom
