// lines: hits and time of each statement of a Python program, beside its source.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/util/source_texts.h"
#include "reports/report.h"

namespace fathom {
namespace lines_report {
namespace {

/// A statement, of all processes or of one, or a line of the source that is none. Texts are the
/// trace's.
struct Line {
  std::string_view file;
  std::string_view function;
  std::uint32_t function_line = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::int64_t pid = kAbsent;
  bool statement = true;
  std::uint64_t hits = 0;
  Duration self{};
  Duration total{};
  Duration function_total{};  ///< Of all its statements.
  std::string_view source = {};
};

struct Sum {
  Duration self{};  ///< Of all statements.
};
using Lines = ReportRows<Line, Sum>;

std::string location_of(const Line& line) {
  return std::string(line.file) + ":" + std::to_string(line.first);
}

template <auto kMember>
auto of_statement(const Line& line) {
  return line.statement ? std::optional(line.*kMember) : std::nullopt;
}
template <auto kMember>
auto of_run(const Line& line) {
  return line.hits > 0 || line.*kMember != Duration{} ? std::optional(line.*kMember) : std::nullopt;
}

std::optional<std::int64_t> per_hit(const Line& line) {
  if (line.hits == 0) return {};
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto count = static_cast<std::int64_t>(std::min(line.hits, kMost));
  const std::int64_t rest = to_ns(line.total) % count;
  return to_ns(line.total) / count + static_cast<std::int64_t>(rest >= count - rest);
}

/// A damaged recording may say any times: their sum stays in range.
void add(Duration& sum, Duration more) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(to_ns(sum), to_ns(more), &result))
    sum = more > Duration{} ? Duration::max() : Duration::min();
  else
    sum = duration_ns(result);
}

constexpr Lines::Column kColumns[] = {
    {"location", ColumnKind::name, "", "File and first line of the statement.", by<location_of>},
    {"process", ColumnKind::integer, "", "Process id, with --group-by process.",
     [](const Line& line) { return int_or_null(line.pid); }, false, "process"},
    {"hits", ColumnKind::count, "", "How often the statement began.",
     by<of_statement<&Line::hits>>},
    {"total_ns", ColumnKind::duration_ns, "ns",
     "Time in it, with all that it called; of a recursion, of the outermost.",
     by<of_run<&Line::total>>},
    {"total_per_hit_ns", ColumnKind::duration_ns, "ns", "Total time per hit, rounded.",
     by<per_hit>},
    {"total_percent", ColumnKind::percent, "percent",
     "Its total time, of that of all statements of its function.",
     [](const Line& line) {
       return line.hits == 0 ? std::nullopt : percent_of(line.total, line.function_total);
     }},
    {"self_ns", ColumnKind::duration_ns, "ns",
     "Time in it, without what recorded statements of called functions took.",
     by<of_run<&Line::self>>},
    {"self_percent", ColumnKind::percent, "percent", "Its own time, of that of all statements.",
     [](const Line& line, const Sum& sum) {
       return line.hits == 0 ? std::nullopt : percent_of(line.self, sum.self);
     },
     true},
    {"function", ColumnKind::name, "", "The function that it is in.", by<&Line::function>},
    {"last_line", ColumnKind::integer, "", "Last line of the statement.", by<&Line::last>, true},
    {"source", ColumnKind::text, "", "What stands there, where the recording kept it.",
     [](const Line& line) { return text_or_null(line.source); }},
};

constexpr std::string_view kGroupBy[] = {"line", "process"};

constexpr ReportOption kListing = {
    "listing", OptionType::flag,
    "In the order of the source, function by function: statements that never ran and lines that "
    "are none, too"};
constexpr ReportOption kOptions[] = {kListing};

/// Files and functions by their text: two processes have ids of their own for them.
using FunctionKey = std::tuple<std::string_view, std::int64_t, std::uint32_t, std::string_view>;
using Key = std::pair<FunctionKey, std::uint32_t>;

FunctionKey function_of(const Line& line) {
  return {line.file, line.pid, line.function_line, line.function};
}

/// In the order of files, processes, functions and lines.
std::vector<Line> statements_of(const Context& context) {
  const Trace& trace = context.trace;
  const bool by_process = context.options.group_by == "process";
  std::map<Key, Line> sums;
  std::map<FunctionKey, Duration> totals;
  for (const LineTime& row : trace.lines) {
    Line line{trace.text(row.file),
              trace.text(row.function),
              row.function_line,
              row.first,
              row.last,
              by_process ? row.pid : kAbsent};
    const Key key{function_of(line), line.first};
    Line& sum = sums.try_emplace(key, line).first->second;
    sum.last = std::max(sum.last, row.last);
    sum.hits += row.hits;
    add(sum.self, row.self);
    add(sum.total, row.total);
    add(totals[function_of(line)], row.total);
  }
  std::vector<Line> lines;
  lines.reserve(sums.size());
  for (auto& [key, sum] : sums) {
    sum.function_total = totals[function_of(sum)];
    lines.push_back(sum);
  }
  return lines;
}

/// The statements of a function, and the lines between them that are none.
struct Listed {
  std::span<const Line> statements;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::vector<std::uint32_t> others;
};

/// Statements with the lines between them. A line belongs to the innermost function around it.
class Listing {
 public:
  Listing(const SourceTexts& sources, std::size_t statements)
      : sources_(sources), left_(kLinesPerStatement * (statements + 1)) {}

  /// All statements of a file, of one process or of all.
  void add(std::span<const Line> file) {
    std::vector<Listed> functions = functions_of(file);
    give_lines(functions, sources_.lines(file.front().file));
    for (const Listed& function : functions) show(function);
  }
  std::vector<Line> take() { return std::move(lines_); }

 private:
  /// What a damaged recording says of long statements and files is not believed beyond this.
  static constexpr std::size_t kLinesPerStatement = 1000;

  static std::vector<Listed> functions_of(std::span<const Line> file) {
    std::vector<Listed> functions;
    for (std::size_t at = 0; at < file.size();) {
      std::size_t end = at;
      Listed function;
      for (; end < file.size() && function_of(file[end]) == function_of(file[at]); ++end)
        function.last = std::max(function.last, file[end].last);
      function.statements = file.subspan(at, end - at);
      const bool is_module = file[at].function == "<module>";
      function.first = is_module ? 0 : std::min(file[at].function_line, file[at].first);
      functions.push_back(std::move(function));
      at = end;
    }
    std::ranges::stable_sort(functions, {}, &Listed::first);
    return functions;
  }

  /// Gives each line of the file to a function. `functions` are in the order of their beginnings.
  void give_lines(std::vector<Listed>& functions, std::uint32_t lines) {
    std::vector<Listed*> open;
    std::size_t next = 0;
    for (std::uint32_t number = 1; number <= lines && left_ > 0; ++number, --left_) {
      while (next < functions.size() && functions[next].first <= number)
        open.push_back(&functions[next++]);
      while (!open.empty() && open.back()->last < number) open.pop_back();
      if (!open.empty()) open.back()->others.push_back(number);
    }
  }

  void show(const Listed& function) {
    std::size_t other = 0;
    const auto show_others = [&](std::uint32_t end) {
      for (; other < function.others.size() && function.others[other] < end; ++other)
        show(function.statements.front(), function.others[other]);
    };
    for (std::size_t at = 0; at < function.statements.size(); ++at) {
      const Line& line = function.statements[at];
      show_others(line.first);
      lines_.push_back(line);
      lines_.back().source = sources_.line(line.file, line.first);
      const bool is_last = at + 1 == function.statements.size();
      const std::uint32_t next =
          is_last ? sources_.lines(line.file) + 1 : function.statements[at + 1].first;
      const std::uint32_t end = std::min(line.last == ~0U ? line.last : line.last + 1, next);
      for (std::uint32_t number = line.first + 1; number < end && left_ > 0; ++number, --left_)
        show(line, number);
      while (other < function.others.size() && function.others[other] < end) ++other;
      if (other < function.others.size() && function.others[other] == line.first) ++other;
    }
  }
  /// A line that is no statement.
  void show(const Line& of, std::uint32_t number) {
    Line line{of.file, of.function, of.function_line, number, number, of.pid};
    line.statement = false;
    line.source = sources_.line(of.file, number);
    lines_.push_back(line);
  }

  const SourceTexts& sources_;
  std::size_t left_;
  std::vector<Line> lines_;
};

std::vector<Line> listed(const std::vector<Line>& lines, const SourceTexts& sources) {
  Listing listing(sources, lines.size());
  const std::span<const Line> all(lines);
  for (std::size_t at = 0; at < all.size();) {
    std::size_t end = at;
    while (end < all.size() && all[end].file == all[at].file && all[end].pid == all[at].pid) ++end;
    listing.add(all.subspan(at, end - at));
    at = end;
  }
  return listing.take();
}

std::string_view without_indentation(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

Result<Lines> compute(const Context& context, const OptionValues& own) {
  const SourceTexts sources(context.trace);
  Lines lines;
  std::vector<Line> statements = statements_of(context);
  for (const Line& line : statements) add(lines.shared.self, line.self);
  if (sources.empty() && !statements.empty())
    lines.notes.emplace_back(
        "The recording kept no source files (fathom run --sources off, or their size), so no text "
        "is shown beside the lines.");
  if (own.flag(kListing)) {
    lines.rows = listed(statements, sources);
    return lines;
  }
  std::erase_if(statements,
                [](const Line& line) { return line.hits == 0 && line.self == Duration{}; });
  for (Line& line : statements)
    line.source = without_indentation(sources.line(line.file, line.first));
  std::ranges::stable_sort(statements, std::greater<>(), &Line::self);
  lines.rows = std::move(statements);
  return lines;
}

constexpr std::string_view kImportance[] = {
    "location",      "hits",    "total_ns", "source", "total_per_hit_ns",
    "total_percent", "self_ns", "function", "process"};

constexpr Need kNeeds[] = {{StoreTable::lines}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "lines",
       .title =
           "Lines of a Python program: hits, time and share of each statement, with its source",
       .doc =
           "One row per statement over all threads and processes, or per process with --group-by "
           "process, the longest own time first. Own times sum to the time that threads spent in "
           "recorded code and in what it called; total times overlap, for a caller's holds its "
           "callees'. A statement of several lines is one row, at its first line. It is recorded "
           "by fathom run --with lines, of the program's own code.",
       .group_by = kGroupBy,
       .sort = "",
       .example =
           "fathom lines fathom-runs/20260101-120000-train --listing --filter function=train",
       .options = kOptions,
       .needs = kNeeds,
       .importance = kImportance,
       .whole = true});
}

}  // namespace
}  // namespace lines_report

Report lines() { return lines_report::report(); }

}  // namespace fathom
