// Lays out columns: numbers to the right, names shortened in the middle, the last columns left out
// if they must.
#include "render/flat_table.h"

#include <algorithm>
#include <numeric>

#include "render/name_text.h"
#include "render/text_width.h"
#include "render/units.h"

namespace fathom {
namespace {

constexpr std::size_t kGap = 2;
/// Names keep at least this much before a column is left out; more where the width is only a wish.
constexpr std::size_t kNarrowestName = 18;
constexpr std::size_t kNarrowestSoftName = 40;

/// A third of a wide terminal, so that names can be told apart.
std::size_t narrowest_name(const Style& style) {
  return style.soft_width ? kNarrowestSoftName : std::max(kNarrowestName, style.width / 3);
}

bool is_text(ColumnKind kind) { return kind == ColumnKind::text || kind == ColumnKind::name; }

struct Shown {
  const ColumnSpec* spec = nullptr;
  std::vector<std::string> cells;
  std::vector<std::string> heading;  ///< Lines, from the top.
  std::size_t rank = 0;              ///< Place in the order of importance, from 0.
  std::size_t natural = 0;           ///< Width that shows everything.
  std::size_t width = 0;             ///< Width given.
  bool left = false;                 ///< Aligned to the left.
};

/// Splits a heading at blanks into lines no longer than `width`, or its longest word.
std::vector<std::string> heading_lines(const std::string& heading, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < heading.size();) {
    const std::size_t blank = std::min(heading.find(' ', at), heading.size());
    const std::string word = heading.substr(at, blank - at);
    at = blank + 1;
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line += ' ' + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

Shown make_column(const View& view, std::size_t index) {
  Shown column;
  column.spec = &view.columns[index];
  column.left = is_text(column.spec->kind);
  std::size_t widest = 0;
  column.cells.reserve(view.table.rows.size());
  for (const std::vector<Value>& row : view.table.rows) {
    column.cells.push_back(format_value(row[index], column.spec->kind));
    widest = std::max(widest, display_width(column.cells.back()));
  }
  column.heading = heading_lines(heading_of(*column.spec), std::max<std::size_t>(widest, 6));
  for (const std::string& line : column.heading) widest = std::max(widest, display_width(line));
  column.natural = widest;
  column.width = widest;
  return column;
}

/// Columns of the report that are not in its list of importance come after those that are, in their
/// order; the grouped-by one and the first never go before others.
std::size_t rank_of(const View& view, std::size_t index) {
  const ColumnSpec& column = view.columns[index];
  if (index == 0 || !column.group.empty()) return 0;
  const std::span<const std::string_view> importance = view.report->importance;
  const auto at = std::ranges::find(importance, column.name);
  const auto place = static_cast<std::size_t>(at - importance.begin());
  return at == importance.end() ? place + index : place;
}

bool nothing_recorded(const View& view, std::size_t index) {
  return std::ranges::all_of(view.table.rows, [index](const std::vector<Value>& row) {
    return std::holds_alternative<std::monostate>(row[index]);
  });
}

/// The columns in their order, but with the one that rows are grouped by right after the name.
std::vector<std::size_t> order_of(const View& view) {
  std::vector<std::size_t> order(view.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (view.columns_chosen || view.group_by.empty()) return order;
  const auto at = std::ranges::find(view.columns, view.group_by, &ColumnSpec::group);
  if (at == view.columns.end() || at == view.columns.begin()) return order;
  const auto place = order.begin() + (at - view.columns.begin());
  std::rotate(order.begin() + 1, place, place + 1);
  return order;
}

std::size_t total_width(const std::vector<Shown>& columns) {
  std::size_t width = 0;
  for (const Shown& column : columns) width += column.width + kGap;
  return width == 0 ? 0 : width - kGap;
}

/// Takes width from the widest text columns, down to `narrowest`, until the table fits.
void shrink_names(std::vector<Shown>& columns, std::size_t width, std::size_t narrowest) {
  for (std::size_t total = total_width(columns); total > width; total = total_width(columns)) {
    Shown* widest = nullptr;
    std::size_t next = narrowest;
    for (Shown& column : columns) {
      if (!column.left || column.width <= narrowest) continue;
      if (widest == nullptr || column.width > widest->width) {
        if (widest != nullptr) next = std::max(next, widest->width);
        widest = &column;
      } else {
        next = std::max(next, column.width);
      }
    }
    if (widest == nullptr) return;
    // Down to the next widest in one go, so that several long columns end up equally short.
    const std::size_t floor = next < widest->width ? next : widest->width - 1;
    widest->width -= std::min(total - width, widest->width - floor);
  }
}

void fit(std::vector<Shown>& columns, const View& view, const Style& style, FlatTable& out) {
  if (style.wide) return;
  shrink_names(columns, style.width, narrowest_name(style));
  if (style.soft_width) return;
  while (!view.columns_chosen && columns.size() > 1 && total_width(columns) > style.width) {
    // Of equals, the last.
    const auto victim = std::prev(
        std::max_element(columns.rbegin(), columns.rend(), [](const Shown& x, const Shown& y) {
          return x.rank < y.rank;
        }).base());
    out.no_room.emplace_back(victim->spec->name);
    columns.erase(victim);
    for (Shown& column : columns) column.width = column.natural;
    shrink_names(columns, style.width, narrowest_name(style));
  }
  // A single name that is still too wide, or columns that the user insists on.
  shrink_names(columns, style.width, 4);
}

std::string cell(const Shown& column, const std::string& text) {
  const std::string shown = column.left ? shorten_name(text, column.width) : text;
  return column.left ? pad_right(shown, column.width) : pad_left(shown, column.width);
}

void trim_right(std::string& text) {
  while (text.ends_with(' ')) text.pop_back();
}

template <typename CellOf>
std::string line_of(const std::vector<Shown>& columns, const CellOf& cell_of) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i != 0) line.append(kGap, ' ');
    line += cell(columns[i], cell_of(columns[i]));
  }
  trim_right(line);
  return line;
}

std::string render_headings(const std::vector<Shown>& columns, const Style& style) {
  std::size_t height = 0;
  for (const Shown& column : columns) height = std::max(height, column.heading.size());
  std::string text;
  for (std::size_t i = 0; i < height; ++i) {
    text += style.bold(line_of(columns, [i, height](const Shown& column) {
      // Headings stand on the rows: short ones leave the upper lines empty.
      const std::size_t above = height - column.heading.size();
      return i < above ? std::string() : column.heading[i - above];
    }));
    text += '\n';
  }
  text += style.dim(line_of(columns, [](const Shown& column) {
    std::string rule;
    for (std::size_t i = 0; i < column.width; ++i) rule += "─";
    return rule;
  }));
  return text + '\n';
}

}  // namespace

FlatTable render_flat(const View& view, const Style& style) {
  FlatTable out;
  std::vector<Shown> columns;
  for (const std::size_t i : order_of(view)) {
    const ColumnSpec& spec = view.columns[i];
    if (!view.columns_chosen) {
      const bool grouped_by = !spec.group.empty() && spec.group == view.group_by;
      if (!style.wide && !grouped_by && (spec.wide || !spec.group.empty())) continue;
      if (!view.table.rows.empty() && nothing_recorded(view, i)) {
        if (spec.group.empty()) out.empty.emplace_back(spec.name);
        continue;
      }
    }
    columns.push_back(make_column(view, i));
    columns.back().rank = rank_of(view, i);
  }
  fit(columns, view, style, out);
  out.text = render_headings(columns, style);
  for (std::size_t row = 0; row < view.table.rows.size(); ++row) {
    out.text += line_of(columns, [row](const Shown& column) { return column.cells[row]; });
    out.text += '\n';
  }
  return out;
}

}  // namespace fathom
