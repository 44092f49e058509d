// A text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// With its quotes. `text` must be valid UTF-8; control characters are escaped as \u00xx.
std::string json_quoted(std::string_view text);

}  // namespace fathom
