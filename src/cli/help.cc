// Lays out help texts in two columns, as wide as the terminal, at most 100.
#include "cli/help.h"

#include <algorithm>

#include <unistd.h>

#include "cli/version.h"
#include "engine/query/columns.h"
#include "render/style.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kTermColumn = 24;

constexpr Remark kExitCodes[] = {
    {"0", "fine"},
    {"1", "a check failed"},
    {"2", "the command line is wrong"},
    {"3", "an input cannot be read"},
    {"4", "whether a check failed is unknown"},
};
constexpr Remark kEnvironment[] = {
    {"NO_COLOR", "set to anything: no colours"},
    {"COLUMNS", "width of text output; without it the terminal's own"},
    {"LINES", "height of the screen that a diagnosis fits; without it the terminal's own, or 40"},
    {"LC_ALL, LC_CTYPE, LANG", "a locale that is not UTF-8: diagnoses in ASCII"},
};
constexpr Remark kExamples[] = {
    {"fathom trace.json.gz", "where the time goes, on one screen"},
    {"fathom diagnose trace.json.gz", "why it is slow, what to change, how much that will save"},
    {"fathom ops trace.json.gz --sort device_self",
     "operators, as torch's key_averages() has them"},
    {"fathom kernels trace.json.gz --filter 'name~gemm' --csv",
     "the matrix kernels, for a spreadsheet"},
    {"fathom steps runs/ --json | jq '.inputs[].rows'",
     "steps of every rank of a job, for a script"},
    {"fathom stacks trace.json.gz --metric device --svg > flame.svg", "a flame graph"},
    {"curl -s URL | fathom health -", "is this recording complete?"},
};

Style help_style() {
  Style style = style_for(STDOUT_FILENO, ColourChoice::automatic, false);
  style.width = std::min<std::size_t>(style.width, 100);
  return style;
}

/// "  term        text", the text wrapped beside its term, or below a long one.
std::string two_columns(std::string_view term, const std::string& text, const Style& style,
                        std::size_t column) {
  std::string out = "  " + std::string(term);
  const std::string indent(column, ' ');
  if (display_width(out) + 2 > column) {
    out += '\n' + indent;
  } else {
    out = pad_right(out, column);
  }
  const std::size_t room = style.width > column + 20 ? style.width - column : 20;
  return out + wrap(text, room, indent) + '\n';
}

std::string options_text(const Options& options, const Style& style) {
  std::string out;
  std::string group;
  for (const Options::Entry& entry : options.entries()) {
    if (entry.group != group) {
      group = entry.group;
      out += "\n" + style.bold(group) + "\n";
    }
    out += two_columns(option_term(entry), entry.doc, style, kTermColumn);
  }
  return out;
}

std::string columns_text(const Report& report, const Style& style) {
  std::size_t widest = 0;
  for (const ColumnSpec& column : report.columns) widest = std::max(widest, column.name.size());
  std::string out = "\n" + style.bold("Columns") + "\n";
  const std::string remark = columns_remark(report);
  if (!remark.empty()) out += "  " + wrap(remark, style.width - 2, "  ") + "\n";
  for (const ColumnSpec& column : report.columns) {
    out +=
        two_columns(column.name, column_doc(column), style, std::min<std::size_t>(widest + 4, 32));
  }
  return out;
}

}  // namespace

std::span<const Remark> exit_codes() { return kExitCodes; }
std::span<const Remark> environment() { return kEnvironment; }
std::span<const Remark> program_examples() { return kExamples; }

std::string option_term(const Options::Entry& entry) {
  std::string term;
  for (const char c : entry.names) term += c == ',' ? std::string(", ") : std::string(1, c);
  return entry.value.empty() ? term : term + " " + entry.value;
}

std::string sentence(std::string_view title) {
  const bool ended = title.ends_with('?') || title.ends_with('!') || title.ends_with('.');
  return std::string(title) + (ended ? "" : ".");
}

std::string column_doc(const ColumnSpec& column) {
  std::string marks(column.unit);
  if (column.wide) marks += marks.empty() ? "--wide" : "; --wide";
  return std::string(column.doc) + (marks.empty() ? "" : " [" + marks + "]");
}

std::string columns_remark(const Report& report) {
  std::string remark;
  const auto has_unit = [](const ColumnSpec& column) { return short_name(column) != column.name; };
  const auto with_unit = std::ranges::find_if(report.columns, has_unit);
  if (with_unit != report.columns.end()) {
    remark = "Options take a name also without the unit at its end: " +
             std::string(short_name(*with_unit)) + ".";
  }
  if (std::ranges::any_of(report.columns, &ColumnSpec::wide)) {
    remark += remark.empty() ? "" : " ";
    remark += "Text shows those marked --wide only with --wide or --columns.";
  }
  return remark;
}

std::string program_help() {
  const Style style = help_style();
  std::string out = style.bold("fathom") + " " + std::string(version()) +
                    " — where the time of a PyTorch or CUDA program goes\n\n";
  out +=
      "  fathom COMMAND [OPTION…] INPUT…\n  fathom INPUT            the same as fathom overview "
      "INPUT\n\n";
  out += "  " + wrap(kInputs, style.width - 2, "  ") + "\n";
  std::string group;
  std::size_t longest = 0;
  for (const Command& command : all_commands()) {
    if (!command.group.empty()) longest = std::max(longest, command.name.size());
  }
  for (const Command& command : all_commands()) {
    if (command.group.empty()) continue;
    if (command.group != group) {
      group = command.group;
      out += "\n" + style.bold(group) + "\n";
    }
    out += two_columns(command.name, command.title, style, longest + 4);
  }
  out += "\n" + style.bold("Examples") + "\n";
  for (const Remark& example : kExamples) {
    out += "  " + std::string(example.term) + "\n      " + style.dim(example.text) + "\n";
  }
  out += "\n" + style.bold("Everywhere") + "\n";
  out += two_columns("COMMAND --help", "options, columns and an example", style, kTermColumn);
  out += two_columns("--version", "version and build", style, kTermColumn);
  out += two_columns("exit codes", "0 fine, 1 a check failed, 2 usage, 3 an input cannot be read",
                     style, kTermColumn);
  return out;
}

std::string command_help(const Command& command) {
  const Style style = help_style();
  Options options;
  const std::function<int()> run = command.declare(options);
  std::string out = style.bold("fathom " + command.name) + " — " + command.title + "\n\n";
  out += "  fathom " + command.name + (options.entries().empty() ? "" : " [OPTION…]") +
         (command.operand.empty() ? "" : " " + command.operand) + "\n\n";
  out += "  " + wrap(command.doc, style.width - 2, "  ") + "\n";
  if (command.report != nullptr) out += columns_text(*command.report, style);
  out += options_text(options, style);
  if (!command.examples.empty()) {
    out += "\n" + style.bold(command.examples.size() == 1 ? "Example" : "Examples") + "\n";
    for (const std::string& example : command.examples) out += "  " + example + "\n";
  }
  return out;
}

}  // namespace fathom::cli
