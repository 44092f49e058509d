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
/// "slower: +3.1 % (+2.5 % to +3.6 %)"; "cannot tell; …"; empty for a side that stands alone.
std::string claim_line(const FunctionMetric& metric, double resolution);
/// "12.34 µs" of "ns", "1,234 items/s" of "1/s".
std::string metric_value_text(double value, std::string_view unit);

}  // namespace fathom::measure
