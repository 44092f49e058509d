// A what-if for programs, schema fathom.whatif/1 (docs/replay.md).
#pragma once

#include <string>
#include <string_view>

#include "engine/whatif/what_if.h"

namespace fathom {

/// Indented by `indent`, no final newline; with the command that says the same, where that is
/// given.
std::string render_what_if_json(const WhatIf& result, std::string_view indent = {},
                                std::string_view command = {});

}  // namespace fathom
