// The options that every table has, and the loop over the inputs.
#include "cli/report_command.h"

#include <charconv>
#include <memory>

#include "cli/messages.h"
#include "cli/options.h"
#include "cli/report_run.h"

namespace fathom::cli {
namespace {

/// A whole number of at least `smallest`.
template <typename Number>
Result<Number> parse_number(const std::string& text, Number smallest) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < smallest) {
    return Error{ErrorCode::invalid_argument,
                 "'" + text + "' is not a number of at least " + std::to_string(smallest)};
  }
  return number;
}

template <typename Number, typename Target>
Options::Parse number_into(Target& target, Number smallest) {
  return [&target, smallest](const std::string& text) -> Result<void> {
    const Result<Number> number = parse_number<Number>(text, smallest);
    if (!number) return Error(number.error());
    target = *number;
    return {};
  };
}

std::vector<std::string> column_names(const Report& report) {
  std::vector<std::string> names;
  for (const ColumnSpec& column : report.columns) names.emplace_back(column.name);
  return names;
}

void declare_selection(Options& options, Request& request) {
  options.group("What to look at");
  options.parsed(
      "--steps", "A-B",
      [&request](const std::string& text) -> Result<void> {
        Result<Selection::StepRange> steps = parse_steps(text);
        if (!steps) return std::move(steps).error();
        request.steps = *steps;
        return {};
      },
      "Only these steps, by their recorded numbers: 5, 3-7, 3-");
  options.parsed("--device", "N", number_into<std::int32_t>(request.device, 0), "Only this device");
  options.parsed(
      "--window", "A:B",
      [&request](const std::string& text) -> Result<void> {
        Result<WindowRequest> window = parse_window(text);
        if (!window) return std::move(window).error();
        request.window = *window;
        return {};
      },
      "Only this stretch of time, from the start of the trace: 10ms:25ms, :1s, 2s:");
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) words.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return words;
}

void declare_shape(Options& options, const Report& report, ReportRequest& wish) {
  options.group("Which rows and columns");
  Request& request = wish.request;
  if (!report.group_by.empty()) {
    const std::vector<std::string> choices(report.group_by.begin(), report.group_by.end());
    std::string doc = "What makes a row; one of";
    for (const std::string& choice : choices) doc += (doc.ends_with("of") ? " " : ", ") + choice;
    options.text("--group-by", "WHAT", request.options.group_by, doc, choices);
  }
  options.list("--filter", "EXPR", request.query.filters,
               "Only rows for which this holds: 'name~gemm' (regular expression), 'calls>=10', "
               "'total_ns>1ms'; "
               "repeat for more conditions");
  options.text("--sort", "COLUMN", request.query.sort,
               "Order of rows: quantities come largest first, other columns ascending; -COLUMN or "
               "COLUMN:desc for descending, +COLUMN or COLUMN:asc for ascending",
               column_names(report));
  options.parsed("--limit", "N", number_into<std::uint64_t>(wish.limit, std::uint64_t{0}),
                 "At most N rows, 0 for all (tables in text: " + std::to_string(kTextRows) +
                     "; JSON, CSV: all)");
  options.parsed(
      "--columns", "A,B,…",
      [&request](const std::string& text) -> Result<void> {
        request.query.columns = split_commas(text);
        return {};
      },
      "These columns, in this order; 'all' for every one", column_names(report));
  for (const std::string_view option : report.options) {
    if (option == "torch") {
      options.flag("--torch", request.options.torch,
                   "The rows and names of torch's key_averages(), exactly");
    } else if (option == "metric") {
      options.text("--metric", "WHAT", request.options.metric,
                   "Which time to count: host or device", {"host", "device"});
    }
  }
}

void declare_output(Options& options, ReportRequest& wish) {
  options.group("Output");
  options.flag("--json", wish.json, "JSON, schema fathom.table/1, with raw integers");
  options.flag("--csv", wish.csv, "CSV (RFC 4180), with raw integers");
  options.flag("--wide", wish.wide, "Shorten no name and leave out no column");
  options.parsed(
      "--color", "WHEN",
      [&wish](const std::string& text) -> Result<void> {
        if (text == "auto") {
          wish.colour = ColourChoice::automatic;
        } else if (text == "always") {
          wish.colour = ColourChoice::always;
        } else if (text == "never") {
          wish.colour = ColourChoice::never;
        } else {
          return Error{ErrorCode::invalid_argument, "'" + text + "' is not auto, always or never"};
        }
        return {};
      },
      "auto (on a terminal, unless NO_COLOR is set), always or never", {"auto", "always", "never"});
  options.text("-o,--output", "FILE", wish.output, "Write to this file instead of standard output");
  options.flag("-q,--quiet", wish.quiet, "No warnings and no progress on standard error");
  options.parsed("--threads", "N", number_into<unsigned>(wish.threads, 1U),
                 "Threads to read with (default: all cores)");
}

}  // namespace

Command report_command(const Report& report) {
  Command command;
  command.name = report.id;
  command.group = "Tables";
  command.title = report.title;
  command.operand = "INPUT…";
  command.doc = report.doc;
  command.examples = {std::string(report.example)};
  command.report = &report;
  command.declare = [&report](Options& options) -> std::function<int()> {
    const auto wish = std::make_shared<ReportRequest>();
    options.operands("INPUT", wish->inputs, 1);
    if (!report.whole) declare_selection(options, wish->request);
    declare_shape(options, report, *wish);
    declare_output(options, *wish);
    return [&report, wish] { return run_report(report, *wish); };
  };
  return command;
}

}  // namespace fathom::cli
