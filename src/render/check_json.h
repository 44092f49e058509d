// The outcome of a check as JSON.
#pragma once

#include <string>
#include <string_view>

#include "compare/check.h"

namespace fathom {

/// Schema fathom.check/1: docs/check.schema.json. An object without a final newline.
std::string render_check_json(const CheckedRuns& checked, std::string_view indent);

}  // namespace fathom
