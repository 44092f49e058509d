// A roofline plot of the rows of the report `roofline`.
#pragma once

#include <string>

#include "engine/session.h"

namespace fathom {

/// True for tables with the columns that a roofline plot needs.
bool has_roofline(const Report& report);

/// A self-contained SVG, light and dark by the reader's preference: both axes logarithmic, a roof
/// per peak, a disc per row whose area is its device time. `view` shows all columns and rows of
/// such a report. Rows without arithmetic have no place on the plot; its caption counts them.
std::string render_roofline_svg(const View& view);

}  // namespace fathom
