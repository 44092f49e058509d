// How text output looks: width, colour, and whether anything may be shortened.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

struct Style {
  std::size_t width = 80;
  bool colour = false;
  /// Nothing is shortened and no column left out (--wide).
  bool wide = false;
  /// The width is only a preference: lines may grow past it rather than lose columns (output to a
  /// pipe or file).
  bool soft_width = false;
  std::size_t height = 0;  ///< Lines of the terminal; 0 where there is none.
  bool ascii = false;      ///< The locale is not UTF-8; see charset.h.

  [[nodiscard]] std::string bold(std::string_view text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return paint("2", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return paint("32", text); }
  [[nodiscard]] std::string cyan(std::string_view text) const { return paint("36", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return paint("33", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return paint("1;31", text); }
  /// A status word (see Table) in its colour.
  [[nodiscard]] std::string status(std::string_view word, std::string_view shown) const;

 private:
  [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const;
};

/// --color.
enum class ColourChoice : unsigned char { automatic, always, never };

/// The style for a file descriptor: a terminal's own width (COLUMNS wins over it), colours only
/// there and only without NO_COLOR and with a TERM that is not "dumb". LINES wins over its height.
/// A locale that is not set is taken for UTF-8.
Style style_for(int descriptor, ColourChoice colour, bool wide);

}  // namespace fathom
