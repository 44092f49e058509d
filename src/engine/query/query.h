// How a computed table is narrowed before it is shown: filter, sort, limit, columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/report.h"

namespace fathom {

/// The options of a query, as typed. Empty means: everything, in the report's own order.
struct Query {
  std::vector<std::string> filters;  ///< "name~gemm", "total_ns>1ms"; a row must pass all.
  /// "column" (quantities from the largest down, others ascending), "-column" or "column:desc",
  /// "+column" or "column:asc".
  std::string sort;
  std::vector<std::string>
      columns;  ///< In the order to show; "all" for every column; empty for the default.
  std::optional<std::uint64_t> limit;
};

/// A table as it is to be shown.
struct View {
  const Report* report = nullptr;
  std::string input;  ///< The file, as named by the user.
  Table table;        ///< The rows and columns to show, in order.
  /// The rows as text shows them, where they are others; empty: those of `table`. See
  /// ReportRows::brief.
  Table brief;
  std::vector<std::string> notes;  ///< Sentences: what was assumed, what abstains and why.
  std::uint64_t rows_total = 0;    ///< Rows before the limit, after the filters.
  bool columns_chosen = false;  ///< The user named the columns: show them all, also the wide ones.
  std::string group_by;         ///< The grouping that was asked for; empty for the default.

  [[nodiscard]] const std::vector<ColumnSpec>& columns() const { return table.columns(); }
};

/// Applies `query` to what `report` computed: of its cells, only those that a filter or the order
/// asks for and those that are shown are worked out. Errors: an unknown column, an expression that
/// makes no sense.
Result<View> apply(const Query& query, const Report& report, Computed computed);

}  // namespace fathom
