// Ladders as text, markdown and JSON.
#pragma once

#include <string>
#include <string_view>

#include "compare/ladder.h"
#include "render/style.h"

namespace fathom {

/// "30.0 ms, 20 % less than the first: reached."; "" without a target.
std::string target_text(const Target& target, const TargetProgress& progress, double now_ns);

/// Two lines for each variant.
std::string render_ladder_text(const Ladder& ladder, const Style& style);
std::string render_ladder_markdown(const Ladder& ladder);
/// Schema fathom.ladder/1.
std::string render_ladder_json(const Ladder& ladder, std::string_view indent);

}  // namespace fathom
