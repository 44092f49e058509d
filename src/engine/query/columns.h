// Columns by the names that people type.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "reports/report.h"

namespace fathom {

/// The row of `columns` that has this name, also without its unit ("total" for "total_ns"); an
/// error names the nearest column.
Result<std::size_t> find_column(std::span<const ColumnSpec> columns, std::string_view name);

/// The name without the unit at its end, as find_column() takes it: "total" for "total_ns".
std::string_view short_name(const ColumnSpec& column);

}  // namespace fathom
