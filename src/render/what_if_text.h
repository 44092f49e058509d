// A what-if for people.
#pragma once

#include <string>

#include "engine/whatif/what_if.h"
#include "render/style.h"

namespace fathom {

/// Old and new step time, what bounds the step before and then, and what was assumed.
std::string render_what_if_text(const WhatIf& result, const Style& style);

}  // namespace fathom
