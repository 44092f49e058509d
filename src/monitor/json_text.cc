// Quotes texts as JSON.
#include "monitor/json_text.h"

namespace fathom::monitor {

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') quoted += '\\';
    // Names and messages of drivers and kernels are ASCII; anything else is damage.
    quoted += byte < 0x20 || byte > 0x7e ? '?' : c;
  }
  return quoted + '"';
}

}  // namespace fathom::monitor
