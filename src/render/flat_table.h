// Rows under column headings, made to fit.
#pragma once

#include <string>
#include <vector>

#include "engine/session.h"
#include "render/style.h"

namespace fathom {

/// The table, and the names of columns that were left out for lack of width or because nothing was
/// recorded.
struct FlatTable {
  std::string text;
  std::vector<std::string> no_room;
  std::vector<std::string> empty;
  bool edges = false;  ///< Some rows are marked with "*" as edge steps.
};
FlatTable render_flat(const View& view, const Style& style);

}  // namespace fathom
