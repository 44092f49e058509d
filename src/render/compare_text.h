// Comparisons as text and as markdown.
#pragma once

#include <optional>
#include <string>

#include "compare/sides.h"
#include "compare/target.h"
#include "render/style.h"

namespace fathom {

/// The pair that is shown, on one screen of 24 lines; `all`: every row and kernel of every pair.
std::string render_compare_text(const ComparedSides& sides, const std::optional<Target>& target,
                                bool all, const Style& style);

/// The same as a page of markdown, for a review or a step summary.
std::string render_compare_markdown(const ComparedSides& sides, const std::optional<Target>& target,
                                    bool all);

}  // namespace fathom
