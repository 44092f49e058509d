// The result of measuring a function, for people.
#pragma once

#include <cstddef>
#include <string>

#include "measure/function_metrics.h"

namespace fathom::measure {

/// One screen, lines up to `width` columns; ends with a newline.
std::string function_text(const FunctionResult& result, std::size_t width = 100);
/// A table with the verdict above it, for notebooks. All text is escaped.
std::string function_html(const FunctionResult& result);

}  // namespace fathom::measure
