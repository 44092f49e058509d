// Checks and repairs UTF-8.
#include "base/utf8.h"

#include <simdjson.h>

namespace fathom {
namespace {

/// simdjson looks at its first use for the version that suits the processor, and allocates in
/// functions that may not throw: so before anything else takes memory.
[[maybe_unused]] const bool kChosen = simdjson::validate_utf8("", 0);

}  // namespace

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string valid_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    out += c.valid ? text.substr(0, c.bytes) : kReplacementCharacter;
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace fathom
