// Finds a column, or the one that was probably meant.
#include "engine/query/columns.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/query/nearest.h"

namespace fathom {

namespace {

constexpr std::string_view kUnits[] = {"_ns", "_bytes", "_percent"};

}  // namespace

std::string_view short_name(const ColumnSpec& column) {
  for (const std::string_view unit : kUnits) {
    if (column.name.ends_with(unit)) return column.name.substr(0, column.name.size() - unit.size());
  }
  return column.name;
}

Result<std::size_t> find_column(std::span<const ColumnSpec> columns, std::string_view name) {
  const auto at = std::ranges::find(columns, name, &ColumnSpec::name);
  if (at != columns.end()) return static_cast<std::size_t>(at - columns.begin());
  // The unit at the end of a name may be left out, as in the headings that people see.
  for (const std::string_view unit : kUnits) {
    const auto with_unit =
        std::ranges::find(columns, std::string(name) + std::string(unit), &ColumnSpec::name);
    if (with_unit != columns.end()) return static_cast<std::size_t>(with_unit - columns.begin());
  }
  std::vector<std::string_view> names;
  std::string list;
  for (const ColumnSpec& column : columns) {
    names.push_back(column.name);
    names.push_back(short_name(column));
    list += list.empty() ? "" : ", ";
    list += column.name;
  }
  const std::string_view meant = nearest(name, names);
  std::string message = "there is no column '" + std::string(name) + "'";
  message += meant.empty() ? "; there are " + list : "; did you mean '" + std::string(meant) + "'?";
  return Error{ErrorCode::invalid_argument, message};
}

}  // namespace fathom
