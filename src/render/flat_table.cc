// Lays out columns: numbers to the right, names shortened, the least important columns left out if
// they must.
#include "render/flat_table.h"

#include <algorithm>
#include <numeric>

#include "render/groups_rows.h"
#include "render/name_text.h"
#include "render/text_width.h"
#include "render/tree_text.h"
#include "render/units.h"

namespace fathom {
namespace {

constexpr std::size_t kGap = 2;
/// Text keeps at least this much before a column is left out; more where the width is only a
/// preference.
constexpr std::size_t kNarrowestText = 18;
constexpr std::size_t kNarrowestSoftText = 40;
constexpr std::string_view kEdgeMark = "*";

/// The first column says what a row is: it keeps a third of a wide terminal, others a fifth.
std::size_t narrowest_text(const Style& style, bool first) {
  if (style.soft_width) return kNarrowestSoftText;
  return std::max(kNarrowestText, style.width / (first ? 3 : 5));
}

struct Shown {
  const ColumnSpec* spec = nullptr;
  std::vector<std::string> cells;
  std::vector<std::string> heading;  ///< Lines, from the top.
  std::size_t rank = 0;              ///< Place in the order of importance, from 0.
  std::size_t natural = 0;           ///< Width that shows everything.
  std::size_t narrowest = 0;         ///< Width without which it is better left out.
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

/// A first column of paths is shown as the tree it is, unless everything is to be seen.
bool is_tree(const View& view, std::size_t index, const Style& style) {
  return index == 0 && !style.wide && !view.columns_chosen &&
         std::ranges::find(view.columns(), "depth", &ColumnSpec::name) != view.columns().end();
}

Shown make_column(const View& view, std::size_t index, const Style& style) {
  Shown column;
  column.spec = &view.columns()[index];
  column.left = is_text(column.spec->kind);
  std::size_t widest = 0;
  column.cells.reserve(view.table.rows());
  for (std::size_t row = 0; row < view.table.rows(); ++row) {
    column.cells.push_back(format_value(view.table.at(row, index), column.spec->kind));
  }
  if (is_tree(view, index, style)) indent_tree(column.cells);
  for (const std::string& text : column.cells) widest = std::max(widest, display_width(text));
  column.heading = heading_lines(heading_of(*column.spec), std::max<std::size_t>(widest, 6));
  for (const std::string& line : column.heading) widest = std::max(widest, display_width(line));
  column.natural = widest;
  column.width = widest;
  return column;
}

/// Columns of the report that are not in its list of importance come after those that are, in their
/// order; the grouped-by ones and the first never go before others.
std::size_t rank_of(const View& view, std::size_t index) {
  const ColumnSpec& column = view.columns()[index];
  if (index == 0 || groups_rows(column, view.group_by)) return 0;
  const std::span<const std::string_view> importance = view.report->importance;
  const auto at = std::ranges::find(importance, column.name);
  const auto place = 1 + static_cast<std::size_t>(at - importance.begin());
  return at == importance.end() ? place + index : place;
}

bool nothing_recorded(const View& view, std::size_t index) {
  return view.table.data(index).nulls == view.table.rows();
}

/// The columns in their order, but with those that rows are grouped by right after the first.
std::vector<std::size_t> order_of(const View& view) {
  std::vector<std::size_t> order(view.columns().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (view.columns_chosen || order.empty()) return order;
  std::stable_partition(order.begin() + 1, order.end(), [&](std::size_t i) {
    return groups_rows(view.columns()[i], view.group_by);
  });
  return order;
}

std::size_t total_width(const std::vector<Shown>& columns) {
  std::size_t width = 0;
  for (const Shown& column : columns) width += column.width + kGap;
  return width == 0 ? 0 : width - kGap;
}

/// Takes width from the widest text columns, down to the narrowest they may be or `least`, until
/// the table fits.
void shrink_text(std::vector<Shown>& columns, std::size_t width, std::size_t least) {
  for (std::size_t total = total_width(columns); total > width; total = total_width(columns)) {
    Shown* widest = nullptr;
    std::size_t next = 0;
    for (Shown& column : columns) {
      const std::size_t narrowest = std::min(column.narrowest, least);
      if (!column.left || column.width <= narrowest) continue;
      if (widest == nullptr || column.width > widest->width) {
        next = std::max(narrowest, widest == nullptr ? 0 : widest->width);
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

/// Keeps columns from the most important on, as long as they fit with text as narrow as it may be.
/// One that does not fit leaves its room to narrower ones that matter less.
void drop_columns(std::vector<Shown>& columns, std::size_t width, FlatTable& out) {
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return columns[i].rank; });
  std::vector<bool> kept(columns.size());
  std::size_t used = 0;
  for (const std::size_t i : order) {
    const std::size_t more = columns[i].narrowest + (used == 0 ? 0 : kGap);
    kept[i] = used == 0 || used + more <= width;
    if (kept[i]) used += more;
  }
  std::vector<Shown> left;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (kept[i]) {
      left.push_back(std::move(columns[i]));
    } else {
      out.no_room.emplace_back(columns[i].spec->name);
    }
  }
  columns = std::move(left);
}

void fit(std::vector<Shown>& columns, const View& view, const Style& style, FlatTable& out) {
  if (style.wide) return;
  for (Shown& column : columns) {
    const std::size_t least = narrowest_text(style, &column == columns.data());
    column.narrowest = column.left ? std::min(column.natural, least) : column.natural;
  }
  if (!style.soft_width && !view.columns_chosen) drop_columns(columns, style.width, out);
  shrink_text(columns, style.width, style.width);
  // A single name that is still too wide, or columns that the user insists on.
  if (!style.soft_width) shrink_text(columns, style.width, 4);
  for (Shown& column : columns) {
    // Other texts are no names of functions, whatever they look like: each cell is cut at its end.
    if (column.spec->kind == ColumnKind::name && column.width < column.natural)
      shorten_names(column.cells, column.width);
  }
}

std::string cell(const Shown& column, const std::string& text) {
  const std::string shown = column.left ? shorten_end(text, column.width) : text;
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

/// Marks the first column of rows whose flag `edge` holds, where that flag itself is not shown.
bool mark_edges(std::vector<Shown>& columns, const View& view) {
  const auto edge = std::ranges::find(view.columns(), "edge", &ColumnSpec::name);
  if (edge == view.columns().end() || edge->kind != ColumnKind::flag || columns.empty())
    return false;
  if (std::ranges::find(columns, &*edge, &Shown::spec) != columns.end()) return false;
  const auto index = static_cast<std::size_t>(edge - view.columns().begin());
  const auto is_edge = [&](std::size_t row) { return view.table.at(row, index) == Value(true); };
  std::size_t edges = 0;
  for (std::size_t row = 0; row < view.table.rows(); ++row) edges += is_edge(row) ? 1 : 0;
  if (edges == 0) return false;
  Shown& first = columns.front();
  for (std::size_t row = 0; row < first.cells.size(); ++row) {
    first.cells[row] += is_edge(row) ? kEdgeMark : " ";
  }
  for (const std::string& text : first.cells) {
    first.natural = std::max(first.natural, display_width(text));
  }
  first.width = first.natural;
  return true;
}

}  // namespace

FlatTable render_flat(const View& view, const Style& style) {
  FlatTable out;
  std::vector<Shown> columns;
  for (const std::size_t i : order_of(view)) {
    const ColumnSpec& spec = view.columns()[i];
    if (!view.columns_chosen) {
      const bool groups = groups_rows(spec, view.group_by);
      if (spec.wide && !style.wide && !groups) continue;
      if (!view.table.empty() && nothing_recorded(view, i)) {
        // What distinguishes groups is often empty only because of the grouping chosen.
        if (spec.group.empty() || groups) out.empty.emplace_back(spec.name);
        continue;
      }
    }
    columns.push_back(make_column(view, i, style));
    columns.back().rank = rank_of(view, i);
  }
  out.edges = mark_edges(columns, view);
  fit(columns, view, style, out);
  out.text = render_headings(columns, style);
  for (std::size_t row = 0; row < view.table.rows(); ++row) {
    out.text += line_of(columns, [row](const Shown& column) { return column.cells[row]; });
    out.text += '\n';
  }
  return out;
}

}  // namespace fathom
