// Writes the tables and definitions of the diagnosis page.
#include "render/page/tables.h"

#include "engine/glossary.h"
#include "render/json.h"
#include "render/page/html.h"
#include "render/shell.h"
#include "render/units.h"

namespace fathom::page {
namespace {

std::string anchor(const View& view, const ColumnSpec& column) {
  return "def-" + std::string(view.report->id) + "-" + std::string(column.name);
}

/// Numbers sort by their raw value, which stands in an attribute.
std::string cell(const Value& value, const ColumnSpec& column) {
  const std::string shown = escaped(format_value(value, column.kind));
  if (is_text(column.kind)) return "<td class=\"name\">" + shown + "</td>";
  std::string raw = json_value(value);
  if (raw == "null") raw.clear();
  return "<td class=\"number\" data-v=\"" + escaped(raw) + "\">" + shown + "</td>";
}

}  // namespace

std::string table(const View& view) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < view.columns().size(); ++i) {
    const ColumnSpec& column = view.columns()[i];
    const bool tells_groups_apart = !column.group.empty() && column.group == view.group_by;
    if (!column.wide || tells_groups_apart) shown.push_back(i);
  }
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::size_t i : shown) {
    const ColumnSpec& column = view.columns()[i];
    out += std::string(is_text(column.kind) ? "<th" : "<th class=\"number\"") + " title=\"" +
           escaped(column.doc) + "\"><button>" + escaped(heading_of(column)) +
           "</button> <a href=\"#" + anchor(view, column) + "\">?</a></th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < view.table.rows(); ++row) {
    out += "<tr>";
    for (const std::size_t i : shown) out += cell(view.table.at(row, i), view.columns()[i]);
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (view.rows_total > view.table.rows()) {
    out += "<p class=\"note\">The first " + std::to_string(view.table.rows()) + " of " +
           std::to_string(view.rows_total) + " rows; all: <code>fathom " +
           std::string(view.report->id) + " --limit 0 " + escaped(shell_word(view.input)) +
           "</code></p>\n";
  }
  for (const std::string& note : view.notes) {
    out += "<p class=\"note\">" + escaped(note) + "</p>\n";
  }
  return out;
}

std::string definitions(const std::vector<View>& views) {
  std::string out = "<dl>\n";
  for (const Term& term : all_terms()) {
    // A word of several kinds is linked to by its first one.
    const bool first = find_terms(term.id).front() == &term;
    if (!first) continue;
    out += "<dt id=\"" + term_anchor(term.id) + "\"><code>" + escaped(term.id) +
           "</code> <span class=\"soft\">" + escaped(term.kind) + "</span></dt><dd>" +
           escaped(term.doc) + "</dd>\n";
  }
  out += "</dl>\n";
  for (const View& view : views) {
    out += "<h3 id=\"def-" + std::string(view.report->id) + "\">" + escaped(view.report->id) +
           "</h3><p>" + escaped(view.report->doc) + "</p><dl>\n";
    for (const ColumnSpec& column : view.columns()) {
      out += "<dt id=\"" + anchor(view, column) + "\"><code>" + escaped(column.name) +
             "</code></dt><dd>" + escaped(column.doc) + "</dd>\n";
    }
    out += "</dl>\n";
  }
  return out;
}

}  // namespace fathom::page
