// Looks a name up in everything that describes itself.
#include "engine/explain.h"

#include <algorithm>
#include <utility>

#include "engine/glossary.h"
#include "engine/query/columns.h"
#include "engine/query/nearest.h"
#include "engine/session.h"
#include "rules/rule.h"

namespace fathom {
namespace {

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

void add_terms(std::string_view name, std::vector<Explanation>& meanings) {
  std::vector<const Term*> terms = find_terms(name);
  if (terms.empty()) {
    for (const Term& term : all_terms()) {
      if (spaced(term.id) == spaced(name)) terms.push_back(&term);
    }
  }
  for (const Term* const term : terms) {
    meanings.push_back({.kind = term->kind,
                        .name = std::string(term->id),
                        .remark = std::string(term->kind),
                        .doc = term->doc});
  }
}

/// Every column of that name, with or without its unit; one entry per meaning, with the tables that
/// have it.
void add_columns(std::string_view name, std::vector<Explanation>& meanings) {
  std::vector<std::pair<const ColumnSpec*, std::string>> columns;
  for (const Report& report : all_reports()) {
    for (const ColumnSpec& column : report.columns) {
      if (column.name != name && short_name(column) != name) continue;
      const auto same = std::ranges::find_if(columns, [&](const auto& meaning) {
        return meaning.first->doc == column.doc && meaning.first->name == column.name;
      });
      if (same == columns.end()) {
        columns.emplace_back(&column, report.id);
      } else {
        same->second += ", " + std::string(report.id);
      }
    }
  }
  for (const auto& [column, reports] : columns) {
    std::string remark = "column of " + reports;
    if (!column->unit.empty()) remark += ", " + std::string(column->unit);
    meanings.push_back({.kind = "column",
                        .name = std::string(column->name),
                        .remark = std::move(remark),
                        .doc = column->doc});
  }
}

}  // namespace

std::vector<Explanation> explain(std::string_view name) {
  std::vector<Explanation> meanings;
  if (const Rule* const rule = rule_called(name)) {
    meanings.push_back({.kind = "rule",
                        .name = std::string(rule->id),
                        .remark = "rule: " + std::string(rule->title),
                        .doc = rule->doc});
  }
  add_terms(name, meanings);
  if (const Report* const report = find_report(name)) {
    meanings.push_back({.kind = "table",
                        .name = std::string(report->id),
                        .remark = "table: " + std::string(report->title),
                        .doc = report->doc});
  }
  add_columns(name, meanings);
  return meanings;
}

std::string not_explained(std::string_view name) {
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

}  // namespace fathom
