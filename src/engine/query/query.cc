// Filters, sorts, cuts and projects rows.
#include "engine/query/query.h"

#include <algorithm>
#include <compare>
#include <optional>

#include "engine/query/columns.h"
#include "engine/query/filter.h"

namespace fathom {
namespace {

/// Total order of values: numbers by size, text by bytes; missing ones come last in either
/// direction.
std::weak_ordering order(const Value& a, const Value& b) {
  const auto number = [](const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::get<bool>(value) ? 1.0 : 0.0;
  };
  if (std::holds_alternative<std::int64_t>(a) && std::holds_alternative<std::int64_t>(b)) {
    return std::get<std::int64_t>(a) <=> std::get<std::int64_t>(b);
  }
  const auto* left = std::get_if<std::string>(&a);
  const auto* right = std::get_if<std::string>(&b);
  if (left != nullptr && right != nullptr) return *left <=> *right;
  if (left != nullptr || right != nullptr)
    return right != nullptr ? std::weak_ordering::less : std::weak_ordering::greater;
  const double x = number(a);
  const double y = number(b);
  return x < y   ? std::weak_ordering::less
         : x > y ? std::weak_ordering::greater
                 : std::weak_ordering::equivalent;
}

bool missing(const Value& value) { return std::holds_alternative<std::monostate>(value); }

struct SortKey {
  std::size_t column = 0;
  bool descending = false;
};

/// Quantities are looked at from the largest down, names and points in time from the first on.
bool largest_first(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::count:
    case ColumnKind::duration_ns:
    case ColumnKind::bytes:
    case ColumnKind::real:
    case ColumnKind::percent:
      return true;
    default:
      return false;
  }
}

Result<SortKey> parse_sort(std::string_view text, std::span<const ColumnSpec> columns) {
  std::optional<bool> descending;
  if (text.starts_with('-') || text.starts_with('+')) {
    descending = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.ends_with(":desc")) {
    descending = true;
    text.remove_suffix(5);
  } else if (text.ends_with(":asc")) {
    descending = false;
    text.remove_suffix(4);
  }
  const Result<std::size_t> column = find_column(columns, text);
  if (!column) return Error(column.error()).in("--sort");
  return SortKey{.column = *column,
                 .descending = descending.value_or(largest_first(columns[*column].kind))};
}

/// Rows that are equal in the key are ordered by their other columns, so that output never depends
/// on the order in which threads met the names.
void sort_rows(std::vector<std::vector<Value>>& rows, SortKey key) {
  std::ranges::sort(rows, [key](const std::vector<Value>& a, const std::vector<Value>& b) {
    const Value& x = a[key.column];
    const Value& y = b[key.column];
    if (missing(x) != missing(y)) return missing(y);
    if (!missing(x)) {
      const std::weak_ordering by_key = order(x, y);
      if (by_key != 0) return key.descending ? by_key > 0 : by_key < 0;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (missing(a[i]) != missing(b[i])) return missing(b[i]);
      if (missing(a[i])) continue;
      const std::weak_ordering by_rest = order(a[i], b[i]);
      if (by_rest != 0) return by_rest < 0;
    }
    return false;
  });
}

Result<std::vector<std::size_t>> choose_columns(const Query& query,
                                                std::span<const ColumnSpec> columns) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : query.columns) {
    if (name == "all") {
      for (std::size_t i = 0; i < columns.size(); ++i) chosen.push_back(i);
      continue;
    }
    Result<std::size_t> column = find_column(columns, name);
    if (!column) return std::move(column).error().in("--columns");
    chosen.push_back(*column);
  }
  if (query.columns.empty()) {
    for (std::size_t i = 0; i < columns.size(); ++i) chosen.push_back(i);
  }
  return chosen;
}

void project(View& view, std::span<const ColumnSpec> columns,
             const std::vector<std::size_t>& chosen) {
  for (const std::size_t column : chosen) view.columns.push_back(columns[column]);
  const bool identity = chosen.size() == columns.size() && std::ranges::is_sorted(chosen);
  if (identity) return;
  for (std::vector<Value>& row : view.table.rows) {
    std::vector<Value> shown;
    shown.reserve(chosen.size());
    for (const std::size_t column : chosen) shown.push_back(row[column]);
    row = std::move(shown);
  }
}

}  // namespace

Result<View> apply(const Query& query, const Report& report, Table table) {
  for (const std::string& expression : query.filters) {
    Result<Filter> filter = Filter::parse(expression, report.columns);
    if (!filter) return std::move(filter).error();
    std::erase_if(table.rows,
                  [&filter](const std::vector<Value>& row) { return !filter->matches(row); });
  }
  const std::string_view sort = query.sort.empty() ? report.sort : std::string_view(query.sort);
  if (!sort.empty()) {
    Result<SortKey> key = parse_sort(sort, report.columns);
    if (!key) return std::move(key).error();
    sort_rows(table.rows, *key);
  }
  Result<std::vector<std::size_t>> chosen = choose_columns(query, report.columns);
  if (!chosen) return std::move(chosen).error();

  const bool all = query.filters.empty() && query.sort.empty() && query.columns.empty();
  if (!all || query.limit) table.brief.clear();

  View view;
  view.report = &report;
  view.rows_total = table.rows.size();
  if (query.limit && *query.limit < table.rows.size()) table.rows.resize(*query.limit);
  view.table = std::move(table);
  view.columns_chosen = !query.columns.empty();
  project(view, report.columns, *chosen);
  return view;
}

}  // namespace fathom
