// lines: hits and time of each statement of a Python program beside its source, and what it caused.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/lines/line_runs.h"
#include "analysis/lines/line_shares.h"
#include "analysis/lines/line_waits.h"
#include "analysis/util/json_list.h"
#include "analysis/util/source_texts.h"
#include "base/quantity_text.h"
#include "reports/profile_parts.h"
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
  LineShare share = {};
  WaitsByCause waits = {};
  bool none = false;  ///< What is no line's.
};

struct Sum {
  std::shared_ptr<SourceTexts> sources;  ///< Owns the texts of the rows.
  Duration self{};                       ///< Of all statements.
  bool summed = true;                    ///< There are hits and times of what is selected.
  bool joined = false;                   ///< The recording has a timeline of lines.
  bool devices = false;
  bool memory = false;
  bool waits = false;  ///< It is known what lines waited for.
};
using Lines = ReportRows<Line, Sum>;

constexpr std::string_view kNoLine = "(no line)";

std::string location_of(const Line& line) {
  if (line.none) return std::string(kNoLine);
  return std::string(line.file) + ":" + std::to_string(line.first);
}

/// Sums are of the run and of its steps, not of a device.
template <auto kMember>
auto of_statement(const Line& line, const Sum& sum) {
  return line.statement && sum.summed ? std::optional(line.*kMember) : std::nullopt;
}
template <auto kMember>
auto of_run(const Line& line, const Sum& sum) {
  const bool ran = line.hits > 0 || line.*kMember != Duration{};
  return ran && sum.summed ? std::optional(line.*kMember) : std::nullopt;
}

template <auto kMember>
auto joined(const Line& line, const Sum& sum) {
  const bool has = sum.joined && (line.statement || line.none);
  return has ? std::optional(line.share.*kMember) : std::nullopt;
}
template <auto kMember>
auto of_devices(const Line& line, const Sum& sum) {
  return sum.devices ? joined<kMember>(line, sum) : std::nullopt;
}
template <auto kMember>
auto of_memory(const Line& line, const Sum& sum) {
  return sum.memory ? joined<kMember>(line, sum) : std::nullopt;
}
template <auto kMember>
auto of_device_memory(const Line& line, const Sum& sum) {
  return sum.memory ? of_devices<kMember>(line, sum) : std::nullopt;
}

/// A damaged recording may say any times: their sum stays in range.
void add(Duration& sum, Duration more) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(to_ns(sum), to_ns(more), &result))
    sum = more > Duration{} ? Duration::max() : Duration::min();
  else
    sum = duration_ns(result);
}

std::optional<Duration> waiting(const Line& line, const Sum& sum) {
  if (!sum.waits || !(line.statement || line.none)) return {};
  Duration all{};
  for (const auto& [cause, time] : line.waits) add(all, time);
  return all;
}

/// "cudaStreamSynchronize 8.100 ms, lock 1.000 ms": the longest first.
std::optional<std::string> wait_causes(const Line& line) {
  constexpr std::size_t kMost = 4;
  if (line.waits.empty()) return {};
  std::vector<std::pair<std::string_view, Duration>> causes(line.waits.begin(), line.waits.end());
  std::ranges::stable_sort(causes, std::greater<>(),
                           [](const auto& cause) { return cause.second; });
  std::string text;
  for (std::size_t at = 0; at < std::min(kMost, causes.size()); ++at) {
    if (at > 0) text += ", ";
    text.append(causes[at].first).append(" ").append(duration_text(causes[at].second));
  }
  if (causes.size() > kMost) text += " and " + std::to_string(causes.size() - kMost) + " more";
  return text;
}

std::optional<std::int64_t> per_hit(const Line& line, const Sum& sum) {
  if (line.hits == 0 || !sum.summed) return {};
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto count = static_cast<std::int64_t>(std::min(line.hits, kMost));
  const std::int64_t rest = to_ns(line.total) % count;
  return to_ns(line.total) / count + static_cast<std::int64_t>(rest >= count - rest);
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
     [](const Line& line, const Sum& sum) {
       return line.hits == 0 || !sum.summed ? std::nullopt
                                            : percent_of(line.total, line.function_total);
     }},
    {"self_ns", ColumnKind::duration_ns, "ns",
     "Time in it, without what recorded statements of called functions took.",
     by<of_run<&Line::self>>},
    {"self_percent", ColumnKind::percent, "percent", "Its own time, of that of all statements.",
     [](const Line& line, const Sum& sum) {
       return line.hits == 0 || !sum.summed ? std::nullopt : percent_of(line.self, sum.self);
     },
     true},
    {"host_ns", ColumnKind::duration_ns, "ns",
     "Time that threads were in it, and in nothing recorded that it called, while operators were "
     "recorded.",
     by<joined<&LineShare::host>>, true},
    {"operators_ns", ColumnKind::duration_ns, "ns",
     "Time on the host in operators that it called, with all that these called.",
     by<joined<&LineShare::operators>>},
    {"backward_operators_ns", ColumnKind::duration_ns, "ns",
     "Time on the host in the operators of the backward pass of what it called.",
     by<joined<&LineShare::backward_operators>>},
    {"device_ns", ColumnKind::duration_ns, "ns", "Busy time of devices with what it launched.",
     by<of_devices<&LineShare::device>>},
    {"backward_device_ns", ColumnKind::duration_ns, "ns",
     "Busy time of devices with the backward pass of what it called.",
     by<of_devices<&LineShare::backward_device>>},
    {"device_idle_ns", ColumnKind::duration_ns, "ns",
     "Idle time of devices while the host was in it, or until what it launched began.",
     by<of_devices<&LineShare::idle>>},
    {"blocked_ns", ColumnKind::duration_ns, "ns", "Time in its calls that wait for a device.",
     by<of_devices<&LineShare::blocked>>},
    {"awaited_ns", ColumnKind::duration_ns, "ns",
     "How long such calls, of whatever line, waited while a device did what this one launched.",
     by<of_devices<&LineShare::awaited>>, true},
    {"waiting_ns", ColumnKind::duration_ns, "ns",
     "How long its threads waited in it: for a device, a batch of a data loader, or what samples "
     "found.",
     by<waiting>},
    {"wait_causes", ColumnKind::text, "",
     "What that was for, the longest first: the call that waited for a device, data loader, or of "
     "samples gil, lock, sleep, child, file, poll, call, other.",
     by<wait_causes>},
    {"host_allocated_bytes", ColumnKind::bytes, "bytes",
     "What the framework allocated on the host for it, backward pass included.",
     by<of_memory<&LineShare::host_allocated>>},
    {"device_allocated_bytes", ColumnKind::bytes, "bytes", "The same on devices.",
     by<of_device_memory<&LineShare::device_allocated>>},
    {"host_held_bytes", ColumnKind::bytes, "bytes",
     "What of it was held when the framework held most on the host.",
     by<of_memory<&LineShare::host_held>>, true},
    {"device_held_bytes", ColumnKind::bytes, "bytes",
     "What of it was held when the framework held most on the device.",
     by<of_device_memory<&LineShare::device_held>>},
    {"copied_bytes", ColumnKind::bytes, "bytes", "Bytes of the copies that it launched.",
     by<of_devices<&LineShare::copied>>},
    {"function", ColumnKind::name, "", "The function that it is in.",
     [](const Line& line) { return text_or_null(line.function); }},
    {"last_line", ColumnKind::integer, "", "Last line of the statement.",
     [](const Line& line) { return line.none ? std::nullopt : std::optional(line.last); }, true},
    {"source", ColumnKind::text, "", "What stands there, where the recording kept it.",
     [](const Line& line) { return text_or_null(line.source); }},
};

constexpr std::string_view kGroupBy[] = {"line", "process"};

constexpr ReportOption kListing = {
    "listing", OptionType::flag,
    "In the order of the source, function by function: statements that never ran and lines that "
    "are none, too"};
constexpr ReportOption kSourceRoot = {
    "source-root", OptionType::sources,
    "Where source files are that the recording did not keep: a folder with what their paths end "
    "with, or OLD=NEW where they began with OLD and are below the folder NEW",
    "DIR"};
constexpr ReportOption kOptions[] = {kListing, kSourceRoot};

/// Files and functions by their text: two processes have ids of their own for them.
using FunctionKey = std::tuple<std::string_view, std::int64_t, std::uint32_t, std::string_view>;
using Key = std::pair<FunctionKey, std::uint32_t>;

FunctionKey function_of(const Line& line) {
  return {line.file, line.pid, line.function_line, line.function};
}

/// In the order of files, processes, functions and lines.
std::vector<Line> statements_of(const Context& context, ProfileParts& parts) {
  const Trace& trace = context.trace;
  const bool by_process = context.options.group_by == "process";
  std::map<Key, Line> sums;
  std::map<FunctionKey, Duration> totals;
  const auto add_row = [&](const LineTime& row, bool ran) {
    Line line{trace.text(row.file),
              trace.text(row.function),
              row.function_line,
              row.first,
              row.last,
              by_process ? row.pid : kAbsent};
    const Key key{function_of(line), line.first};
    Line& sum = sums.try_emplace(key, line).first->second;
    sum.last = std::max(sum.last, row.last);
    if (!ran) return;
    sum.hits += row.hits;
    add(sum.self, row.self);
    add(sum.total, row.total);
    add(totals[function_of(line)], row.total);
  };
  // Of a part, too, statements that never ran are known.
  if (parts.divided())
    for (const LineTime& row : trace.lines) add_row(row, false);
  parts.each(trace.lines, trace.line_parts, [&](const LineTime& row) { add_row(row, true); });
  std::vector<Line> lines;
  lines.reserve(sums.size());
  for (auto& [key, sum] : sums) {
    sum.function_total = totals[function_of(sum)];
    lines.push_back(sum);
  }
  return lines;
}

/// Adds the shares to their statements, and a row of each process, or of all, for what is no
/// line's. A process that was killed left no sums: its statements are new.
class Joining {
 public:
  Joining(const Context& context, std::vector<Line>& lines)
      : trace_(context.trace), by_process_(context.options.group_by == "process"), lines_(lines) {
    for (std::size_t at = 0; at < lines.size(); ++at) {
      const Line& line = lines[at];
      numbers_.try_emplace({line.pid, line.file, line.first, line.function}, at);
    }
  }

  void add(const LineShares& shares) {
    for (const auto& [key, share] : shares.shares) {
      if (share == LineShare()) continue;
      const std::int64_t pid = by_process_ ? key.pid : kAbsent;
      (key.statement.valid() ? statement(pid, key.statement) : nobody(pid)).share += share;
    }
  }
  void add(const LineWaits& waits) {
    for (const auto& [line, causes] : waits.lines) {
      const std::int64_t pid = by_process_ ? line.pid : kAbsent;
      Line& row =
          line.first == 0 ? nobody(pid) : statement({pid, line.file, line.first, line.function});
      for (const auto& [cause, time] : causes) lines_report::add(row.waits[cause], time);
    }
  }
  /// The rows of what is no line's, one at least.
  [[nodiscard]] std::vector<Line> nobodys() {
    std::vector<Line> rows;
    if (nobodys_.empty()) nobody(kAbsent);
    for (auto& [pid, row] : nobodys_) rows.push_back(std::move(row));
    return rows;
  }

 private:
  using Place = std::tuple<std::int64_t, std::string_view, std::uint32_t, std::string_view>;

  Line& statement(std::int64_t pid, StringId name) {
    const StatementName parts = statement_name(trace_.text(name));
    return statement({pid, parts.file, parts.first, parts.function});
  }
  Line& statement(const Place& place) {
    const auto& [pid, file, first, function] = place;
    const auto [at, added] = numbers_.try_emplace(place, lines_.size());
    if (added) lines_.push_back({file, function, 0, first, first, pid});
    return lines_[at->second];
  }
  Line& nobody(std::int64_t pid) {
    Line& row = nobodys_[pid];
    row.pid = pid;
    row.statement = false;
    row.none = true;
    return row;
  }

  const Trace& trace_;
  bool by_process_;
  std::vector<Line>& lines_;
  std::map<Place, std::size_t> numbers_;
  std::map<std::int64_t, Line> nobodys_;
};

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

/// Fills in the texts that the recording did not keep, and tells what of them there is.
class FindingSources {
 public:
  FindingSources(const std::vector<Line>& statements, SourceTexts& sources) : sources_(sources) {
    for (const Line& line : statements) {
      if (line.file.empty() || sources.has(line.file)) continue;
      std::uint32_t& last = wanted_[line.file];
      last = std::max(last, line.last);
    }
  }

  void find(const SourceFinder& text_of) {
    std::size_t left = kMostOfAll;
    for (const auto& [file, last] : wanted_) {
      std::optional<std::string> text = text_of(file);
      if (!text || text->size() > left) {
        missing_.push_back(file);
        continue;
      }
      const std::size_t size = text->size();
      if (!reaches(*text, last)) {
        others_.push_back(file);
        continue;
      }
      left -= size;
      sources_.add(file, *std::move(text));
    }
  }

  void note(std::vector<std::string>& notes) const {
    if (wanted_.empty()) {
      notes.emplace_back(
          "--source-root had nothing to add: the recording keeps the text of each file that lines "
          "are of.");
      return;
    }
    if (!missing_.empty())
      notes.push_back(counted(missing_) + " not below --source-root or too large to show, as " +
                      std::string(missing_.front()) +
                      ": it takes a folder that holds what such a path ends with, or OLD=NEW.");
    if (!others_.empty())
      notes.push_back(counted(others_) + " shorter below --source-root than what ran, as " +
                      std::string(others_.front()) + ": another state, which is not shown.");
  }

 private:
  static constexpr std::size_t kMostOfAll = std::size_t{64} << 20U;

  static bool reaches(std::string_view text, std::uint32_t last) {
    const auto ends = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    return ends + (text.empty() || text.ends_with('\n') ? 0 : 1) >= last;
  }
  /// "2 of 3 source files are"
  [[nodiscard]] std::string counted(const std::vector<std::string_view>& files) const {
    const std::string all = std::to_string(wanted_.size());
    const std::string source_files = wanted_.size() == 1 ? " source file " : " source files ";
    return std::to_string(files.size()) + " of " + all + source_files +
           (files.size() == 1 ? "is" : "are");
  }

  SourceTexts& sources_;
  std::map<std::string_view, std::uint32_t> wanted_;  ///< Last line that is known of each.
  std::vector<std::string_view> missing_;
  std::vector<std::string_view> others_;
};

/// Whether there is anything that lines could be joined with.
bool has_work(const Trace& trace) {
  return std::ranges::any_of(trace.categories, [](const Category& category) {
    return category.slices > 0 &&
           (category.kind == SliceKind::cpu_op || is_device_activity(category.kind));
  });
}

void note_what_was_slowed(const Trace& trace, std::vector<std::string>& notes) {
  const Fact* const why = trace.fact("lines.all_code_traced");
  if (why == nullptr || trace.lines.empty()) return;
  notes.push_back("Code of libraries was traced, too, which made it slower: " +
                  std::string(json_unquoted(why->value)) + ".");
}

void note_what_lacks(const Trace& trace, const Sum& sum, std::vector<std::string>& notes) {
  if (!sum.summed)
    notes.emplace_back(
        "Hits, total and own times are not known of what is selected: they belong to no device, "
        "and "
        "to steps only where the recorder saw them end.");
  if (!sum.joined) {
    notes.emplace_back(
        has_work(trace)
            ? "What lines caused (operators, device time, memory) is not known: the recording has "
              "no timeline of lines, which fathom run --with lines records while it runs "
              "torch.profiler, and from the beginning on where it records CUDA without PyTorch."
            : "Nothing was recorded that lines cause: neither operators nor a device.");
    return;
  }
  if (!sum.devices) notes.emplace_back("Nothing was recorded of a device.");
  if (!sum.memory)
    notes.emplace_back(
        "No events of an allocator were recorded; fathom run --with lines,memory records them.");
}

Result<Lines> compute(const Context& context, const OptionValues& own) {
  Lines lines;
  lines.shared.sources = std::make_shared<SourceTexts>(context.trace);
  SourceTexts& sources = *lines.shared.sources;
  ProfileParts parts(context);
  std::vector<Line> statements = statements_of(context, parts);
  for (const Line& line : statements) add(lines.shared.self, line.self);
  const LineShares shares = compute_line_shares(context);
  Joining joining(context, statements);
  joining.add(shares);
  const LineWaits waits = compute_line_waits(context);
  joining.add(waits);
  lines.shared.summed =
      context.everything() || (parts.divided() && !context.trace.line_parts.empty());
  lines.shared.joined = shares.timeline;
  lines.shared.devices = shares.devices;
  lines.shared.memory = shares.memory;
  lines.shared.waits = waits.known;
  if (const SourceFinder* const find = own.sources(kSourceRoot)) {
    FindingSources finding(statements, sources);
    finding.find(*find);
    finding.note(lines.notes);
  } else if (sources.empty() && !statements.empty()) {
    lines.notes.emplace_back(
        "The recording kept no source files (fathom run --sources off, or their size), so no text "
        "is shown beside the lines; --source-root DIR takes it from where they are now.");
  }
  if (lines.shared.summed) parts.note("Hits, total and own times", lines.notes);
  note_what_was_slowed(context.trace, lines.notes);
  note_what_lacks(context.trace, lines.shared, lines.notes);
  if (own.flag(kListing)) {
    std::ranges::stable_sort(
        statements, {}, [](const Line& line) { return std::pair(function_of(line), line.first); });
    lines.rows = listed(statements, sources);
  } else {
    const bool summed = lines.shared.summed;
    std::erase_if(statements, [summed](const Line& line) {
      const bool ran = summed && (line.hits > 0 || line.self != Duration{});
      return !ran && line.share == LineShare() && line.waits.empty();
    });
    for (Line& line : statements)
      line.source = without_indentation(sources.line(line.file, line.first));
    std::ranges::stable_sort(statements, std::greater<>(), [summed](const Line& line) {
      return std::pair(summed ? line.self : Duration{}, line.share.host);
    });
    lines.rows = std::move(statements);
  }
  if (!shares.timeline && !waits.known) return lines;
  std::ranges::move(joining.nobodys(), std::back_inserter(lines.rows));
  return lines;
}

constexpr std::string_view kImportance[] = {"location",
                                            "hits",
                                            "total_ns",
                                            "source",
                                            "device_ns",
                                            "device_idle_ns",
                                            "waiting_ns",
                                            "wait_causes",
                                            "blocked_ns",
                                            "backward_device_ns",
                                            "operators_ns",
                                            "total_per_hit_ns",
                                            "total_percent",
                                            "self_ns",
                                            "device_held_bytes",
                                            "device_allocated_bytes",
                                            "host_allocated_bytes",
                                            "backward_operators_ns",
                                            "copied_bytes",
                                            "function",
                                            "process"};

constexpr Need kNeeds[] = {{StoreTable::lines}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "lines",
       .title =
           "Lines of a Python program: hits, time and share of each statement, with its source",
       .doc =
           "One row per statement, at its first line, over all threads and processes, or per "
           "process with --group-by process; longest own time first. Own times sum to the time "
           "in recorded code and in what it called; total times overlap, for a caller's holds "
           "its callees'. fathom run --with lines records the program's own code. With --steps "
           "or --window hits count where they began and times are divided. Where torch.profiler "
           "recorded beside it, each line has what it caused there, and (no line) the rest: they "
           "sum to the time of operators, waits and devices, and to the bytes allocated and "
           "copied. What lines waited for is known of devices and data loaders, of all else with "
           "--with lines,samples.",
       .group_by = kGroupBy,
       .sort = "",
       .example =
           "fathom lines fathom-runs/20260101-120000-train --listing --filter function=train",
       .options = kOptions,
       .needs = kNeeds,
       .importance = kImportance});
}

}  // namespace
}  // namespace lines_report

Report lines() { return lines_report::report(); }

}  // namespace fathom
