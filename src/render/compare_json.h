// Comparisons as JSON, schema fathom.compare/1 (docs/compare.schema.json).
#pragma once

#include <string>
#include <string_view>

#include "compare/sides.h"

namespace fathom {

/// Everything, indented by `indent`, without a final newline.
std::string render_compare_json(const ComparedSides& sides, std::string_view indent);

}  // namespace fathom
