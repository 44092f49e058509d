// The ranks of one program beside each other, as text.
#pragma once

#include <string>

#include "engine/diagnosis/ranks.h"
#include "render/style.h"

namespace fathom {

/// Which rank is diagnosed and why, then a paragraph per rank: all of them, or as many as a screen
/// has room for, the diagnosed one among them. Ends with a newline.
std::string ranks_lines(const Ranks& ranks, bool all, const Style& style);

}  // namespace fathom
