// The target of a request, decoded: its path and what follows the question mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::server {

/// "name=value" pairs in their order; a name may occur several times.
using Parameters = std::vector<std::pair<std::string, std::string>>;

struct Target {
  std::string path;  ///< "/token/api/session"; plain characters only.
  Parameters parameters;

  /// The first value of that name, or nullptr.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
};

/// Errors: invalid_argument for what no page of ours asks for: a path that does not begin with a
/// slash, or has escapes, dots as a part, empty parts or other than plain characters in it; a
/// parameter with an escape that is none, or with a NUL.
Result<Target> parse_target(std::string_view target);

}  // namespace fathom::server
