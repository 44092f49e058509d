// Quotes words and fills inputs into commands for a shell.
#include "render/shell.h"

#include <algorithm>

#include "render/text_width.h"

namespace fathom {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/._-+:,=@%^").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view text) {
  std::string shown = printable(text);
  if (!shown.empty() && std::ranges::all_of(shown, is_plain)) return shown;
  std::string out = "'";
  for (const char c : shown) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_on(std::string_view command, std::string_view input) {
  constexpr std::string_view kPlace = "TRACE";
  std::string out(command);
  if (input == "-") return out;
  // A name that begins with a dash would be an option.
  const std::string word = (input.starts_with('-') ? "./" : "") + shell_word(input);
  for (std::size_t at = out.find(kPlace); at != out.npos; at = out.find(kPlace, at + word.size())) {
    out.replace(at, kPlace.size(), word);
  }
  return out;
}

}  // namespace fathom
