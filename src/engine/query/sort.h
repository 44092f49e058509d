// The order of rows by one of their columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reports/report.h"

namespace fathom {

/// A column to sort by.
struct SortKey {
  std::size_t column = 0;
  bool descending = false;

  /// "column" (quantities from the largest down, others ascending), "-column" or "column:desc",
  /// "+column" or "column:asc".
  static Result<SortKey> parse(std::string_view text, std::span<const ColumnSpec> columns);
};

/// The first `wanted` of these rows of `source`, in their order. Missing values come last in either
/// direction. Rows that are equal in the key are ordered by their other columns, so that output
/// never depends on the order in which threads met the names; of these columns, only cells of equal
/// rows are worked out. For n rows O(n log wanted), in memory for `wanted` rows where these are
/// few.
std::vector<std::uint32_t> first_in_order(const RowSource& source,
                                          std::span<const ColumnSpec> columns, SortKey key,
                                          std::size_t wanted, const RowChoice& rows);

}  // namespace fathom
