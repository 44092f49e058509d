// fathom reference: every report and column as markdown, for docs/metrics.md.
#include "cli/command.h"
#include "cli/print.h"
#include "engine/session.h"

namespace fathom::cli {
namespace {

/// Text for a cell of a markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string section_of(const Report& report) {
  const std::string id(report.id);
  std::string out =
      "## " + id + "\n\n" + std::string(report.title) + ".\n\n" + std::string(report.doc) + "\n\n";
  out += "    " + std::string(report.example) + "\n\n";
  if (!report.group_by.empty()) {
    out += "`--group-by`:";
    for (const std::string_view choice : report.group_by) {
      out += (choice == report.group_by.front() ? " `" : ", `") + std::string(choice) + "`";
    }
    out += " (the first is the default).\n\n";
  }
  out += "| column | unit | meaning |\n| --- | --- | --- |\n";
  for (const ColumnSpec& column : report.columns) {
    out += "| `" + std::string(column.name) + "` | " + cell(column.unit) + " | " +
           cell(column.doc) + " |\n";
  }
  return out;
}

int run() {
  std::string out;
  for (const Report& report : all_reports()) out += (out.empty() ? "" : "\n") + section_of(report);
  return print(out);
}

}  // namespace

Command reference() {
  Command command;
  command.name = "reference";
  command.group = "More";
  command.title = "Every table and column, as markdown";
  command.doc =
      "Prints what docs/metrics.md says about each table, made from the tables themselves.";
  command.examples = {"fathom reference > columns.md"};
  command.declare = [](Options&) { return run; };
  return command;
}

}  // namespace fathom::cli
