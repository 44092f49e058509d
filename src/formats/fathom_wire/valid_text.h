// Texts of a capture file: made valid UTF-8, and values made JSON.
#pragma once

#include <string>
#include <string_view>

namespace fathom::own {

[[nodiscard]] bool is_utf8(std::string_view text);
/// Each byte that is not UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view text);
/// A fact's value as JSON text: objects and lists stay as they are where they are sound, all else
/// becomes a string.
std::string json_value(std::string_view value);

}  // namespace fathom::own
