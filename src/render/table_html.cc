// Writes a table as HTML that can stand in the page of someone else.
#include "render/table_html.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "render/groups_rows.h"
#include "render/page/html.h"
#include "render/units.h"

namespace fathom {
namespace {

using page::escaped;

class TableHtml {
 public:
  TableHtml(const View& view, std::size_t most_rows)
      : view_(view), rows_(std::min(view.table.rows(), most_rows)) {
    const auto& columns = view_.columns();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].name == "unit") unit_ = i;
      const bool groups = groups_rows(columns[i], view_.group_by);
      const bool asked = !columns[i].wide || groups || view_.columns_chosen;
      if (asked && (rows_ == 0 || has_value(i))) shown_.push_back(i);
    }
  }

  [[nodiscard]] std::string render() const {
    std::string out = "<table><thead><tr>";
    for (const std::size_t i : shown_) {
      const ColumnSpec& column = view_.columns()[i];
      out += "<th" + aligned(i) + " title=\"" + escaped(column.doc) + "\">" +
             escaped(heading_of(column)) + "</th>";
    }
    out += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 0; row < rows_; ++row) {
      out += "<tr>";
      for (const std::size_t i : shown_)
        out += "<td" + aligned(i) + ">" + escaped(cell(row, i)) + "</td>";
      out += "</tr>\n";
    }
    out += "</tbody></table>\n";
    if (view_.rows_total > rows_) {
      out += "<p>The first " + std::to_string(rows_) + " of " + std::to_string(view_.rows_total) +
             " rows.</p>\n";
    }
    for (const std::string& note : view_.notes) out += "<p>" + escaped(note) + "</p>\n";
    return out;
  }

 private:
  [[nodiscard]] bool has_value(std::size_t column) const {
    for (std::size_t row = 0; row < rows_; ++row) {
      if (!std::holds_alternative<std::monostate>(view_.table.at(row, column))) return true;
    }
    return false;
  }

  [[nodiscard]] std::string aligned(std::size_t column) const {
    return is_text(view_.columns()[column].kind) ? " style=\"text-align:left\""
                                                 : " style=\"text-align:right;white-space:nowrap\"";
  }

  /// Rows of some tables name the unit of their value.
  [[nodiscard]] std::string cell(std::size_t row, std::size_t column) const {
    const Value value = view_.table.at(row, column);
    const ColumnSpec& spec = view_.columns()[column];
    if (unit_ && spec.name == "value") {
      const Value unit = view_.table.at(row, *unit_);
      if (const auto* name = std::get_if<std::string_view>(&unit))
        return format_value_in(value, *name);
    }
    return format_value(value, spec.kind);
  }

  const View& view_;
  std::size_t rows_;
  std::vector<std::size_t> shown_;
  std::optional<std::size_t> unit_;
};

}  // namespace

std::string render_table_html(const View& view, std::size_t most_rows) {
  return TableHtml(view, most_rows).render();
}

}  // namespace fathom
