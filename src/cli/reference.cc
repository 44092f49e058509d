// fathom reference: every report and column, or every word, as markdown for docs/.
#include <memory>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/report_options.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/glossary.h"
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

/// A table of each kind of word, then the rules and the tables by their names.
std::string words() {
  std::string out;
  const auto begin = [&](std::string_view heading, std::string_view where) {
    out += (out.empty() ? "## " : "\n## ") + std::string(heading) + "\n\n" + sentence(where) +
           "\n\n| word | meaning |\n| --- | --- |\n";
  };
  const auto row = [&](std::string_view id, std::string_view doc) {
    out += "| " + cell(id) + " | " + cell(doc) + " |\n";
  };
  for (const TermKind& kind : all_term_kinds()) {
    begin(kind.heading, "Shown " + std::string(kind.where));
    for (const Term& term : all_terms()) {
      if (term.kind == kind.id) row(term.id, term.doc);
    }
  }
  begin("Rules", "Shown with findings; fathom explain RULE prints definition and thresholds");
  for (const Rule& rule : all_rules()) row(rule.id, rule.title);
  begin("Tables", "Commands of the same name; docs/metrics.md has their columns");
  for (const Report& report : all_reports()) row(report.id, report.title);
  return out;
}

int run_reference(bool only_words) {
  if (only_words) return print(words());
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
  command.doc = "Prints the made part of docs/metrics.md, from the tables themselves.";
  command.examples = {"fathom reference > columns.md"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto only_words = std::make_shared<bool>(false);
    options.flag("--words", *only_words, "Every word of the program instead, for docs/glossary.md");
    return [only_words] { return run_reference(*only_words); };
  };
  return command;
}

}  // namespace fathom::cli
