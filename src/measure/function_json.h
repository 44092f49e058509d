// The result of measuring a function, for programs.
#pragma once

#include <string>
#include <string_view>

#include "measure/function_metrics.h"

namespace fathom::measure {

/// Schema fathom.bench/1, as of `fathom bench --json`, and in `function` what only functions have
/// (docs/bench-api.md). Without a final newline. A run is a block of calls.
/// Without `runs` the list of them is left empty.
std::string function_json(const FunctionResult& result, bool runs = true,
                          std::string_view indent = {});

}  // namespace fathom::measure
