// Chooses the plainest way of writing a word that a shell reads as it is.
#include "base/shell_word.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/utf8.h"

namespace fathom {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/._-+:,=@%^{}").find(c) != std::string_view::npos;
}

/// {a,b} and {1..3} are several words to bash; {name} is one.
bool is_expanded(std::string_view text) {
  return text.find('{') != text.npos &&
         (text.find(',') != text.npos || text.find("..") != text.npos);
}

void append_escaped(std::string& out, std::string_view bytes, const Utf8Char& c) {
  if (bytes == "\n") {
    out += "\\n";
  } else if (bytes == "\t") {
    out += "\\t";
  } else if (bytes == "\\" || bytes == "'") {
    out += '\\';
    out += bytes;
  } else if (is_shown(c)) {
    out += bytes;
  } else {
    for (const char byte : bytes) {
      std::array<char, 8> octal{};
      std::snprintf(octal.data(), octal.size(), "\\%03o", static_cast<unsigned char>(byte));
      out += octal.data();
    }
  }
}

std::string escaped_word(std::string_view text) {
  std::string out = "$'";
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    append_escaped(out, text.substr(at, c.bytes), c);
    at += c.bytes;
  }
  return out + "'";
}

bool all_shown(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (!is_shown(c)) return false;
    at += c.bytes;
  }
  return true;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain) && !is_expanded(text)) {
    return std::string(text);
  }
  if (!all_shown(text)) return escaped_word(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += shell_word(word);
  }
  return line;
}

}  // namespace fathom
