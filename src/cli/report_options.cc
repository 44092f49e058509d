// Declares the options of a table, in the order of --help.
#include "cli/report_options.h"

#include <algorithm>

#include "cli/selection_options.h"
#include "engine/query/columns.h"
#include "engine/query/typed.h"
#include "render/folded.h"
#include "render/roofline_svg.h"

namespace fathom::cli {
namespace {

std::vector<std::string> column_names(const Report& report) {
  std::vector<std::string> names;
  for (const ColumnSpec& column : report.columns) names.emplace_back(column.name);
  return names;
}

/// The first column of that kind, or nullptr.
const ColumnSpec* first_of(const Report& report, ColumnKind kind) {
  const auto at = std::ranges::find(report.columns, kind, &ColumnSpec::kind);
  return at == report.columns.end() ? nullptr : &*at;
}

/// Conditions that this table understands: "'name~gemm' (regular expression), 'total>1ms'".
std::string filter_examples(const Report& report) {
  std::string text = "'" + std::string(report.columns.front().name) + "~WORD' (regular expression)";
  struct Example {
    ColumnKind kind;
    std::string_view condition;
  };
  for (const Example& example :
       {Example{ColumnKind::count, ">=10"}, Example{ColumnKind::duration_ns, ">1ms"},
        Example{ColumnKind::bytes, ">4KiB"}, Example{ColumnKind::flag, "=yes"}}) {
    const ColumnSpec* column = first_of(report, example.kind);
    if (column == nullptr) continue;
    text += ", '" + std::string(short_name(*column)) + std::string(example.condition) + "'";
  }
  return text;
}

void declare_one(Options& options, const ReportOption& option, ReportRequest& args) {
  const std::string name(option.name);
  if (option.type == OptionType::flag) {
    options.flag("--" + name, args.flags[name], option.doc);
    return;
  }
  const bool rate = option.type == OptionType::rate;
  const auto keep = [&args, name, rate](const std::string& text) -> Result<void> {
    if (rate) {
      const Result<double> number = parse_rate(text);
      if (!number) return number.error();
    }
    args.own[name] = text;
    return {};
  };
  options.parsed("--" + name, option.value, keep, option.doc,
                 {option.choices.begin(), option.choices.end()});
}

/// The options that are this table's own.
void declare_own(Options& options, const Report& report, ReportRequest& args) {
  options.group(kOwnOptions);
  TableOptions& own = args.request.options;
  if (!report.group_by.empty()) {
    const std::vector<std::string> choices(report.group_by.begin(), report.group_by.end());
    std::string doc = "What makes a row; one of";
    for (const std::string& choice : choices) {
      doc += choice == choices.front() ? " " + choice + " (the default)" : ", " + choice;
      if (choice == "stack") doc += " (stack=5: its innermost 5 frames)";
    }
    options.text("--group-by", "WHAT", own.group_by, doc, choices);
  }
  for (const ReportOption& option : report.options) declare_one(options, option, args);
  if (has_roofline(report)) options.flag("--svg", args.svg, "A plot instead of a table");
  if (has_stacks(report)) {
    options.flag("--svg", args.svg, "A flame graph instead of a table");
    options.flag("--folded", args.folded,
                 "Lines \"frame;frame nanoseconds\", as flamegraph.pl, inferno and speedscope read "
                 "them");
  }
}

void declare_shape(Options& options, const Report& report, ReportRequest& args) {
  options.group("Which rows and columns");
  Request& request = args.request;
  options.list("--filter", "EXPR", request.query.filters,
               "Only rows for which this holds: a column, one of = != < <= > >= ~ !~, and a value, "
               "with its unit: " +
                   filter_examples(report) + "; repeat for more conditions");
  options.text("--sort", "COLUMN", request.query.sort,
               "Order of rows: quantities come largest first, other columns ascending; -COLUMN or "
               "COLUMN:desc for descending, +COLUMN or COLUMN:asc for ascending",
               column_names(report));
  options.parsed("--limit", "N", number_into<std::uint64_t>(args.limit, std::uint64_t{0}),
                 "At most N rows, 0 for all (tables in text: " + std::to_string(kTextRows) +
                     "; JSON, CSV: all)");
  options.parsed(
      "--columns", "A,B,…",
      [&request](const std::string& text) -> Result<void> {
        request.query.columns = split_commas(text);
        return {};
      },
      "These columns, in this order; 'all' for every one", column_names(report));
}

void declare_output(Options& options, ReportRequest& args) {
  options.group("Output");
  options.flag("--json", args.output.json, "JSON, schema fathom.table/1, with raw integers");
  options.flag("--csv", args.csv, "CSV (RFC 4180), with raw integers");
  declare_text_output(options, args.output);
  declare_reading(options, args.read);
}

}  // namespace

void declare_report_options(Options& options, const Report& report, ReportRequest& args) {
  options.operands("INPUT", args.read.inputs, 1);
  declare_own(options, report, args);
  if (!report.whole) {
    Request& request = args.request;
    declare_selection(options, request.steps, request.device, request.window);
  }
  declare_shape(options, report, args);
  declare_output(options, args);
}

}  // namespace fathom::cli
