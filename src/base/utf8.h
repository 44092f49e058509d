// UTF-8: decodes, encodes, cuts, checks and repairs it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

/// U+FFFD, which stands for what is not UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

struct Utf8Char {
  char32_t code = 0;
  std::size_t bytes = 1;  ///< How many bytes it takes; 1 for a byte that is not UTF-8.
  bool valid = false;
};

/// The character at the front of `text`, which must not be empty. Overlong forms and surrogates are
/// not valid.
constexpr Utf8Char decode_utf8(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[bytes] || code > 0x10FFFF || surrogate) return {};
  return {code, bytes, true};
}

/// Is it a mark that changes the direction of what follows? With it a name can disguise its
/// neighbours.
constexpr bool is_reordering(char32_t code) {
  return (code >= 0x200E && code <= 0x200F) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

/// Does a terminal show it, rather than obey it?
constexpr bool is_shown(const Utf8Char& c) {
  const bool control = c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0);
  return c.valid && !control && !is_reordering(c.code);
}

/// Appends a character; U+FFFD for a surrogate and for what is beyond Unicode.
inline void append_utf8(std::string& text, char32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = 0xFFFD;
  const auto byte = [&text](char32_t bits) { text.push_back(static_cast<char>(bits)); };
  const auto rest = [&](unsigned shift) { byte(0x80U | (code >> shift & 0x3FU)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0U | code >> 6U);
  } else if (code < 0x10000) {
    byte(0xE0U | code >> 12U);
    rest(6);
  } else {
    byte(0xF0U | code >> 18U);
    rest(12);
    rest(6);
  }
  rest(0);
}

/// At most `size` bytes of the beginning, not ending within a character. Does not allocate.
constexpr std::string_view cut_utf8(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  // A character has four bytes at most.
  for (std::size_t back = 0; back < 4 && size > 0; ++back) {
    if ((static_cast<unsigned char>(text[size]) & 0xC0U) != 0x80U) break;
    --size;
  }
  return text.substr(0, size);
}

/// By simdjson, at memory speed.
[[nodiscard]] bool is_utf8(std::string_view text);
/// The same text, with U+FFFD for each byte that is not UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace fathom
