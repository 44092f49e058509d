// fathom reference: every report and column as markdown, for docs/metrics.md.
#include "cli/command.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/report_options.h"
#include "engine/session.h"
#include "render/json.h"

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

/// A list of the options that not every table has.
std::string own_options(const Report& report) {
  const Command* command = find_command(report.id);
  if (command == nullptr) return {};
  Options options;
  const std::function<int()> unused = command->declare(options);
  std::string out;
  for (const Options::Entry& entry : options.entries()) {
    if (entry.group != kOwnOptions) continue;
    out += "- `" + entry.names + (entry.value.empty() ? "" : " " + entry.value) +
           "`: " + sentence(entry.doc) + "\n";
  }
  return out.empty() ? out : out + "\n";
}

std::string section_of(const Report& report) {
  const std::string id(report.id);
  std::string out =
      "## " + id + "\n\n" + sentence(report.title) + "\n\n" + std::string(report.doc) + "\n\n";
  out += "    " + std::string(report.example) + "\n\n";
  out += own_options(report);
  const std::string remark = columns_remark(report);
  if (!remark.empty()) out += remark + "\n\n";
  out += "| column | kind | meaning |\n| --- | --- | --- |\n";
  for (const ColumnSpec& column : report.columns) {
    out += "| `" + std::string(column.name) + "` | " + std::string(kind_name(column.kind)) + " | " +
           cell(column_doc(column)) + " |\n";
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
