// Fills inputs into commands for a shell.
#include "render/shell.h"

#include "base/shell_word.h"

namespace fathom {

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
