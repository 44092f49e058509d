// Finds width, height, colours and character set of the output.
#include "render/style.h"

#include <charconv>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace fathom {
namespace {

constexpr std::size_t kNarrowest = 20;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// A number from the environment; 0 where it is none.
std::size_t number_in(const char* name) {
  const std::string_view text = environment(name);
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

winsize terminal_size(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

/// The first of these that is set decides, as in setlocale().
bool locale_is_ascii() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = environment(name);
    if (locale.empty()) continue;
    return locale.find("UTF-8") == std::string_view::npos &&
           locale.find("utf8") == std::string_view::npos &&
           locale.find("utf-8") == std::string_view::npos;
  }
  return false;
}

}  // namespace

std::string Style::paint(std::string_view code, std::string_view text) const {
  if (!colour || text.empty()) return std::string(text);
  std::string out = "\x1b[";
  out += code;
  out += 'm';
  out += text;
  out += "\x1b[0m";
  return out;
}

std::string Style::status(std::string_view word, std::string_view shown) const {
  if (word == "ok") return green(shown);
  if (word == "note") return cyan(shown);
  if (word == "warning") return yellow(shown);
  if (word == "bad") return red(shown);
  return dim(shown);
}

Style style_for(int descriptor, ColourChoice colour, bool wide) {
  Style style;
  const bool terminal = isatty(descriptor) == 1;
  const winsize size = terminal_size(descriptor);
  std::size_t columns = number_in("COLUMNS");
  if (columns == 0) columns = size.ws_col;
  style.soft_width = columns == 0;
  if (columns != 0) style.width = columns < kNarrowest ? kNarrowest : columns;
  style.height = number_in("LINES");
  if (style.height == 0) style.height = size.ws_row;
  style.ascii = locale_is_ascii();
  const bool wanted = terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.colour = colour == ColourChoice::always || (colour == ColourChoice::automatic && wanted);
  style.wide = wide;
  return style;
}

}  // namespace fathom
