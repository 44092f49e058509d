// Values of a capture file as JSON.
#pragma once

#include <string>
#include <string_view>

namespace fathom::own {

/// A fact's value as JSON text: objects and lists stay as they are where they are sound, all else
/// becomes a string.
std::string json_value(std::string_view value);

}  // namespace fathom::own
