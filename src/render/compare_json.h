// Comparisons as JSON, schema fathom.compare/1 (docs/compare.schema.json).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compare/sides.h"
#include "compare/target.h"

namespace fathom {

/// Everything, indented by `indent`, without a final newline.
std::string render_compare_json(const ComparedSides& sides, const std::optional<Target>& target,
                                std::string_view indent);

}  // namespace fathom
