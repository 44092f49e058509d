// Which columns tell rows apart that --group-by made.
#pragma once

#include <string_view>

#include "engine/query/query.h"

namespace fathom {

/// Is the column for rows of this --group-by? It names one choice or several, with spaces between.
inline bool groups_rows(const ColumnSpec& column, std::string_view group_by) {
  std::string_view choices = column.group;
  while (!group_by.empty() && !choices.empty()) {
    const std::size_t space = choices.find(' ');
    if (choices.substr(0, space) == group_by) return true;
    choices = space == std::string_view::npos ? std::string_view() : choices.substr(space + 1);
  }
  return false;
}

}  // namespace fathom
