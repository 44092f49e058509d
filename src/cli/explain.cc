// fathom explain: what a rule looks for, what a verdict, a bucket or a column means.
#include <algorithm>
#include <memory>
#include <utility>

#include <unistd.h>

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/print.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/glossary.h"
#include "engine/query/columns.h"
#include "engine/query/nearest.h"
#include "render/charset.h"
#include "render/style.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

/// A heading, and a paragraph below it.
std::string entry(std::string_view name, std::string_view remark, std::string_view doc,
                  const Style& style) {
  const std::string heading =
      style.bold(name) + (remark.empty() ? "" : "   " + std::string(remark));
  return heading + "\n  " + wrap(doc, style.width - 2, "  ") + "\n";
}

/// Rules are called as in JSON, as files of ours ("data_loading"), or with their finding's key.
const Rule* rule_called(std::string_view name) {
  std::string id(name.substr(0, name.find('/')));
  std::ranges::replace(id, '_', '-');
  return find_rule(id);
}

/// "launch-latency" and "launch_latency" are easier to type than with a blank.
std::string spaced(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(
      text, [](char c) { return c == '-' || c == '_'; }, ' ');
  return text;
}

std::string explain_term(std::string_view name, const Style& style) {
  std::vector<const Term*> terms = find_terms(name);
  if (terms.empty()) {
    for (const Term& term : all_terms()) {
      if (spaced(term.id) == spaced(name)) terms.push_back(&term);
    }
  }
  std::string text;
  for (const Term* const term : terms) text += entry(term->id, term->kind, term->doc, style);
  return text;
}

/// Every column of that name, with or without its unit; one entry per meaning, with the tables that
/// have it.
std::string explain_column(std::string_view name, const Style& style) {
  std::vector<std::pair<const ColumnSpec*, std::string>> meanings;
  for (const Report& report : all_reports()) {
    for (const ColumnSpec& column : report.columns) {
      if (column.name != name && short_name(column) != name) continue;
      const auto same = std::ranges::find_if(meanings, [&](const auto& meaning) {
        return meaning.first->doc == column.doc && meaning.first->name == column.name;
      });
      if (same == meanings.end()) {
        meanings.emplace_back(&column, report.id);
      } else {
        same->second += ", " + std::string(report.id);
      }
    }
  }
  std::string text;
  for (const auto& [column, reports] : meanings) {
    std::string remark = "column of ";
    remark += reports;
    if (!column->unit.empty()) remark += ", " + std::string(column->unit);
    text += entry(column->name, remark, column->doc, style);
  }
  return text;
}

std::string explain(std::string_view name, const Style& style) {
  std::string text;
  if (const Rule* const rule = rule_called(name)) {
    text += entry(rule->id, std::string("rule: ") + std::string(rule->title), rule->doc, style);
  }
  text += explain_term(name, style);
  if (const Report* const report = find_report(name)) {
    text += entry(report->id, "table: " + std::string(report->title), report->doc, style);
  }
  return text + explain_column(name, style);
}

std::string unknown(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Rule& rule : all_rules()) names.push_back(rule.id);
  for (const Term& term : all_terms()) names.push_back(term.id);
  for (const Report& report : all_reports()) {
    names.push_back(report.id);
    for (const ColumnSpec& column : report.columns) {
      names.push_back(column.name);
      names.push_back(short_name(column));
    }
  }
  const std::string_view meant = nearest(name, names);
  return "'" + std::string(name) + "' is no rule, term, table or column" +
         (meant.empty() ? "; fathom explain lists them"
                        : "; did you mean '" + std::string(meant) + "'?");
}

std::string listed(std::string_view heading, const std::vector<std::string_view>& names,
                   const Style& style) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return "\n" + style.bold(heading) + "\n  " + wrap(text, style.width - 2, "  ") + "\n";
}

std::string list_everything(const Style& style) {
  std::size_t width = 0;
  for (const Rule& rule : all_rules()) width = std::max(width, rule.id.size());
  std::string text = style.bold("Rules") + "\n";
  for (const Rule& rule : all_rules()) {
    const std::size_t column = width + 4;
    text += "  " + pad_right(rule.id, width + 2) +
            wrap(rule.title, style.width > column + 20 ? style.width - column : 20,
                 std::string(column, ' ')) +
            "\n";
  }
  for (const TermKind& kind : all_term_kinds()) {
    std::vector<std::string_view> names;
    for (const Term& term : all_terms()) {
      if (term.kind == kind.id) names.push_back(term.id);
    }
    text += listed(kind.heading, names, style);
  }
  std::vector<std::string_view> tables;
  for (const Report& report : all_reports()) tables.push_back(report.id);
  return text + listed("Tables, and any column of theirs", tables, style);
}

int run(const std::vector<std::string>& names) {
  const Style style = style_for(STDOUT_FILENO, ColourChoice::automatic, false);
  if (names.empty()) return print(in_charset(list_everything(style), style));
  std::string out;
  for (const std::string& name : names) {
    const std::string text = explain(name, style);
    if (text.empty()) {
      say_error(unknown(name));
      return kUsage;
    }
    out += (out.empty() ? "" : "\n") + text;
  }
  return print(in_charset(out, style));
}

}  // namespace

Command explain() {
  Command command;
  command.name = "explain";
  command.group = "Diagnosis";
  command.title = "What a rule looks for, or what a word or number means";
  command.operand = "[NAME…]";
  command.doc =
      "Prints the definition of a rule with its thresholds and their source, of a verdict, of a "
      "bucket of the accounting, of any word that the program shows, of a table or of a column. "
      "Without a "
      "name, lists what there is.";
  command.examples = {"fathom explain", "fathom explain unfused-optimizer",
                      "fathom explain host-bound dispatch", "fathom explain device_self_ns"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto names = std::make_shared<std::vector<std::string>>();
    options.operands("NAME", *names, 0);
    return [names] { return run(*names); };
  };
  return command;
}

}  // namespace fathom::cli
