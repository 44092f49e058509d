// The differential flame graph of a comparison, as SVG.
#pragma once

#include <string>

#include "compare/comparison.h"

namespace fathom {

/// The mean step of both sides, one above the other in the same scale: phase, modules, operator,
/// kernel. A width is time per step, a colour how it changed: red for more, blue for less, the
/// stronger the more of it. So what one side lacks is seen on the other. Without rows (withheld)
/// the buckets are drawn.
std::string render_compare_svg(const Comparison& comparison);

}  // namespace fathom
