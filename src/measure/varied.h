// A value that is varied: into the command where it says {name}, else into the environment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/run_taker.h"

namespace fathom::measure {

/// "batch=8,16,32".
struct Varied {
  std::string name;
  std::vector<std::string> values;  ///< In their order; each once.
};

/// `cores`: of "num_workers=auto", which is 0, 1, 2, 4, … up to all of them. Errors:
/// invalid_argument for no name, no value, fewer than two, or the same twice; "auto" for a name
/// that does not end in "workers".
Result<Varied> parse_sweep(std::string_view text, std::size_t cores);

/// "n=1000..1000000", "n=1000" with an end of its own; whole numbers.
struct VariedRange {
  std::string name;
  std::int64_t first = 1;
  std::int64_t last = 0;  ///< 0: none was given.
};
/// Errors: invalid_argument for no name, and for bounds that are no whole numbers from 1 on or
/// descend. A name alone has bounds 1 and none.
Result<VariedRange> parse_range(std::string_view text);

/// Does any word say {name}?
bool has_placeholder(const std::vector<std::string>& words, std::string_view name);

/// The command with that value: each {name} of its words replaced; where there is none, the
/// variable of that name is set. What is to be run before it has both. Errors: invalid_argument,
/// where it can be no variable.
Result<Commanded> with_value(const std::vector<std::string>& words, const std::string& name,
                             const std::string& value, const std::string& prepare = {});

}  // namespace fathom::measure
