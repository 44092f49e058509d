// Filters, sorts, cuts and projects rows.
#include "engine/query/query.h"

#include <algorithm>
#include <numeric>

#include "base/digit_groups.h"
#include "engine/query/columns.h"
#include "engine/query/filter.h"
#include "engine/query/sort.h"

namespace fathom {
namespace {

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

/// The rows that pass all conditions.
Result<RowChoice> filtered_rows(const Query& query, const Report& report, const RowSource& source) {
  if (query.filters.empty()) return RowChoice(source.rows());
  std::vector<std::uint32_t> rows(source.rows());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  for (const std::string& expression : query.filters) {
    const Result<Filter> filter = Filter::parse(expression, report.columns);
    if (!filter) return filter.error();
    std::erase_if(rows, [&](std::uint32_t row) {
      const Cell cell = source.cell(row, filter->column());
      return !filter->matches(value_of(cell));
    });
  }
  return RowChoice(std::move(rows));
}

/// The first `wanted` of the rows in the order that is asked for, or as they were computed.
Result<RowChoice> ordered_rows(const Query& query, const Report& report, const RowSource& source,
                               RowChoice rows, std::size_t wanted) {
  const std::string_view sort = query.sort.empty() ? report.sort : std::string_view(query.sort);
  if (sort.empty()) {
    rows.cut(wanted);
    return rows;
  }
  const Result<SortKey> key = SortKey::parse(sort, report.columns);
  if (!key) return key.error();
  return RowChoice(first_in_order(source, report.columns, *key, wanted, rows));
}

}  // namespace

Result<View> apply(const Query& query, const Report& report, Computed computed) {
  const RowSource& source = *computed.source;
  Result<RowChoice> rows = filtered_rows(query, report, source);
  if (!rows) return std::move(rows).error();
  View view;
  view.rows_total = (*rows).size();
  const std::size_t wanted =
      std::min<std::uint64_t>(query.limit.value_or(view.rows_total), view.rows_total);
  rows = ordered_rows(query, report, source, *std::move(rows), wanted);
  if (!rows) return std::move(rows).error();
  const Result<std::vector<std::size_t>> chosen = choose_columns(query, report.columns);
  if (!chosen) return chosen.error();
  view.table = materialise(source, report.columns, *chosen, *rows);
  const bool all = query.filters.empty() && query.sort.empty() && query.columns.empty();
  if (all && !query.limit) view.brief = std::move(computed.brief);
  view.report = &report;
  view.notes = std::move(computed.notes);
  if (view.rows_total == 0 && source.rows() > 0)
    view.notes.push_back("None of the " + grouped(source.rows()) + " rows passes the filter.");
  view.columns_chosen = !query.columns.empty();
  return view;
}

}  // namespace fathom
