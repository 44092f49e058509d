// fathom explain: what a rule looks for, what a metric means.
#include <algorithm>
#include <memory>

#include <unistd.h>

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/print.h"
#include "engine/diagnosis.h"
#include "engine/nearest.h"
#include "render/style.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

std::string explain_rule(const Rule& rule, const Style& style) {
  return style.bold(rule.id) + "   " + std::string(rule.title) + "\n\n" +
         wrap(rule.doc, style.width, "  ") + "\n";
}

/// Every column of that name, with the report it stands in.
std::string explain_column(std::string_view name, const Style& style) {
  std::string text;
  for (const Report& report : all_reports()) {
    for (const ColumnSpec& column : report.columns) {
      if (column.name != name) continue;
      text += style.bold(std::string(report.id) + "." + std::string(column.name)) +
              (column.unit.empty() ? "" : "   " + std::string(column.unit)) + "\n" +
              wrap(column.doc, style.width, "  ") + "\n";
    }
  }
  return text;
}

std::string explain_report(const Report& report, const Style& style) {
  return style.bold(report.id) + "   " + std::string(report.title) + "\n\n" +
         wrap(report.doc, style.width, "  ") + "\n";
}

std::string list_rules(const Style& style) {
  std::size_t width = 0;
  for (const Rule& rule : all_rules()) width = std::max(width, rule.id.size());
  std::string text;
  for (const Rule& rule : all_rules()) {
    text += style.bold(pad_right(rule.id, width + 2)) + std::string(rule.title) + "\n";
  }
  return text;
}

int run(const std::vector<std::string>& names) {
  const Style style = style_for(STDOUT_FILENO, ColourChoice::automatic, false);
  if (names.empty()) return print(list_rules(style));
  std::string out;
  for (const std::string& name : names) {
    std::string text;
    if (const Rule* const rule = find_rule(name)) text = explain_rule(*rule, style);
    if (const Report* const report = find_report(name)) text += explain_report(*report, style);
    text += explain_column(name, style);
    if (text.empty()) {
      say_error("'" + name + "' is no rule, table or column; `fathom explain` lists the rules");
      return kUsage;
    }
    out += (out.empty() ? "" : "\n") + text;
  }
  return print(out);
}

}  // namespace

Command explain() {
  Command command;
  command.name = "explain";
  command.group = "Diagnosis";
  command.title = "What a rule looks for, or what a column means";
  command.operand = "[RULE|TABLE|COLUMN…]";
  command.doc =
      "Prints the definition, the thresholds and their source. Without a name, lists the rules.";
  command.examples = {"fathom explain", "fathom explain unfused-optimizer",
                      "fathom explain device_self_ns"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto names = std::make_shared<std::vector<std::string>>();
    options.operands("NAME", *names, 0);
    return [names] { return run(*names); };
  };
  return command;
}

}  // namespace fathom::cli
