// Asks the terminal and the environment.
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

std::size_t columns_variable() {
  const std::string_view text = environment("COLUMNS");
  std::size_t columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns);
  return columns;
}

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
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
  std::size_t columns = columns_variable();
  if (columns == 0) columns = terminal_columns(descriptor);
  style.soft_width = columns == 0;
  if (columns != 0) style.width = columns < kNarrowest ? kNarrowest : columns;
  const bool wanted = terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.colour = colour == ColourChoice::always || (colour == ColourChoice::automatic && wanted);
  style.wide = wide;
  return style;
}

}  // namespace fathom
