// functions: the deterministic profile of Python functions, as cProfile's pstats shows it.
#include <algorithm>
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
  std::uint64_t primitive = 0;
  bool primitive_known = true;  ///< Of all that is summed here.
  bool self_known = true;
  bool total_known = true;
  std::string_view caller = {};
  std::string_view caller_file = {};
  std::uint32_t caller_line = 0;
};

struct Sum {
  Duration self{};  ///< Of all rows.
};
using Functions = ReportRows<Function, Sum>;

/// "train.py:12"; what the interpreter itself has is nowhere.
std::optional<std::string> place(std::string_view file, std::uint32_t line) {
  if (file.empty() || file == "~") return {};
  std::string location(file);
  return line == 0 ? location : location + ":" + std::to_string(line);
}
std::optional<std::string> location_of(const Function& function) {
  return place(function.file, function.line);
}

std::optional<Duration> self_of(const Function& function) {
  return function.self_known ? std::optional(function.self) : std::nullopt;
}
std::optional<Duration> total_of(const Function& function) {
  return function.total_known ? std::optional(function.total) : std::nullopt;
}
std::optional<std::uint64_t> primitive_of(const Function& function) {
  return function.primitive_known ? std::optional(function.primitive) : std::nullopt;
}

std::optional<std::int64_t> per_call(Duration time, std::uint64_t calls, bool known) {
  if (calls == 0 || !known) return {};
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
    {"self_ns", ColumnKind::duration_ns, "ns", "Time in it, without what it called.", by<self_of>},
    {"self_percent", ColumnKind::percent, "percent", "Its own time, of that of all functions.",
     [](const Function& function, const Sum& sum) {
       return function.self_known ? percent_of(function.self, sum.self) : std::nullopt;
     }},
    {"self_per_call_ns", ColumnKind::duration_ns, "ns", "Own time per call, rounded.",
     [](const Function& function) {
       return per_call(function.self, function.calls, function.self_known);
     },
     true},
    {"total_ns", ColumnKind::duration_ns, "ns",
     "Time from call to return; of one that calls itself, of the outermost call.", by<total_of>},
    {"total_per_call_ns", ColumnKind::duration_ns, "ns", "Total time per call, rounded.",
     [](const Function& function) {
       return per_call(function.total, function.calls, function.total_known);
     },
     true},
    {"primitive_calls", ColumnKind::count, "",
     "Of these, the calls that were inside no other one of it.", by<primitive_of>, true},
    {"caller", ColumnKind::name, "",
     "What called it, with --group-by caller; nothing where that is not known, as of a thread's "
     "first function.",
     [](const Function& function) { return text_or_null(function.caller); }, false, "caller"},
    {"caller_location", ColumnKind::name, "", "File and line where its caller is defined.",
     [](const Function& function) { return place(function.caller_file, function.caller_line); },
     true, "caller"},
};

constexpr std::string_view kGroupBy[] = {"function", "process", "caller"};

/// Names and files by their text: two processes have ids of their own for them.
using Key = std::tuple<std::string_view, std::uint32_t, std::string_view, std::int64_t>;

using Sums = std::map<Key, Function>;

/// Of any calls one at least is inside no other.
bool known(std::uint64_t calls, std::uint64_t primitive) { return calls == 0 || primitive > 0; }

/// A row for each function and one that called it, and for what of its calls no caller is known of.
class ByCaller {
 public:
  ByCaller(const Trace& trace, const Sums& sums) : trace_(trace), sums_(sums) {
    for (const FunctionCalls& calls : trace.function_calls) add(calls);
  }

  [[nodiscard]] std::vector<Function> rows() const {
    std::vector<Function> rows;
    for (const auto& [key, function] : sums_) {
      Function rest = function;
      const auto callers = called_.find(key);
      if (callers != called_.end()) {
        for (const auto& [caller, row] : callers->second) {
          rows.push_back(row);
          take(rest, row);
        }
      }
      if (callers == called_.end() || rest.calls > 0 || (rest.self_known && rest.self > Duration{}))
        rows.push_back(rest);
    }
    return rows;
  }

 private:
  using Caller = std::tuple<std::string_view, std::uint32_t, std::string_view>;

  void add(const FunctionCalls& calls) {
    const Key key{trace_.text(calls.file), calls.line, trace_.text(calls.name), kAbsent};
    const Caller caller{trace_.text(calls.caller_file), calls.caller_line,
                        trace_.text(calls.caller_name)};
    const auto& [file, line, name, pid] = key;
    Function& row = called_[key].try_emplace(caller, Function{name, file, line, pid}).first->second;
    std::tie(row.caller_file, row.caller_line, row.caller) = caller;
    row.calls += calls.calls;
    row.self += calls.self;
    row.total += calls.total;
    row.primitive += calls.primitive;
    row.primitive_known = row.primitive_known && known(calls.calls, calls.primitive);
    row.self_known = row.total_known = row.self_known && calls.timed;
  }
  /// What is left of the whole. Total and primitive calls overlap where a function calls itself.
  static void take(Function& rest, const Function& row) {
    rest.calls -= std::min(rest.calls, row.calls);
    rest.self = std::max(Duration{}, rest.self - row.self);
    rest.self_known = rest.self_known && row.self_known;
    rest.total_known = rest.primitive_known = false;
  }

  const Trace& trace_;
  const Sums& sums_;
  std::map<Key, std::map<Caller, Function>> called_;
};

Result<Functions> compute(const Context& context) {
  const Trace& trace = context.trace;
  const bool by_process = context.options.group_by == "process";
  Sums sums;
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
    sum.primitive += function.primitive;
    sum.primitive_known = sum.primitive_known && known(function.calls, function.primitive);
  });
  parts.note("Calls and times", functions.notes);
  if (context.selection.device)
    functions.notes.emplace_back("Functions belong to no device: those of all are shown.");
  if (context.options.group_by == "caller") {
    if (parts.divided())
      return Error{ErrorCode::invalid_argument,
                   "callers are known of the whole run alone: leave out --steps and --window"};
    if (trace.function_calls.empty())
      functions.notes.emplace_back(
          "The recording has no callers: it is of an earlier version, or was killed.");
    functions.rows = ByCaller(trace, sums).rows();
    return functions;
  }
  for (const auto& [key, sum] : sums) functions.rows.push_back(sum);
  return functions;
}

constexpr std::string_view kImportance[] = {"function", "self_ns",      "calls",
                                            "total_ns", "self_percent", "location",
                                            "process",  "caller",       "primitive_calls"};

constexpr Need kNeeds[] = {{StoreTable::functions}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "functions",
       .title = "Functions of a Python program: calls, own and total time, as cProfile has them",
       .doc =
           "One row per function over all threads and processes, or per process with --group-by "
           "process; with --group-by caller one per function and caller, whose calls and own "
           "times sum to the function's. Own times sum to the time that the profiled threads "
           "spent in Python and in what it called. Total times overlap, for a caller's holds its "
           "callees'. fathom run --with functions records it, --with functions=c functions of C, "
           "too. Short functions that are called often appear longer than they are. With --steps "
           "or --window calls count where they began, and of a call that goes on in the next "
           "step each has its part of the time: all parts sum to the whole run.",
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
