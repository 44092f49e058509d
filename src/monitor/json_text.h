// Text as JSON, for the facts that we write.
#pragma once

#include <string>
#include <string_view>

namespace fathom::monitor {

/// With its quotes. Bytes that are no text (control characters, broken UTF-8) become "?".
std::string json_text(std::string_view text);

}  // namespace fathom::monitor
