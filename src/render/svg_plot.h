// What plots as SVG share: the paper with its margins and colours, axes, lines and words.
#pragma once

#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::svg {

inline constexpr double kWidth = 820;
inline constexpr double kHeight = 520;
inline constexpr double kLeft = 92;
inline constexpr double kRight = 28;
inline constexpr double kTop = 44;
inline constexpr double kBottom = 74;

/// A logarithmic axis: whole powers of ten that hold everything.
struct LogAxis {
  int first;  // exponents
  int last;
  double from;  // pixels
  double to;
  [[nodiscard]] double at(double value) const;
};
/// `values` are positive; without any the axis is from 1 to 10.
LogAxis log_axis(const std::vector<double>& values, double from, double to);

/// A plain axis from 0 on, with a tick at each multiple of `step`.
struct LinearAxis {
  double step = 1;
  double last = 1;
  double from = 0;  // pixels
  double to = 1;
  [[nodiscard]] double at(double value) const { return from + (to - from) * value / last; }
};
/// Four to ten ticks of 1, 2 or 5 times a power of ten.
LinearAxis linear_axis(double largest, double from, double to);

std::string fixed(double value, int decimals = 1);
std::string general(double value, int digits);
std::string joined(std::initializer_list<std::string_view> parts);

/// A self-contained picture, light and dark by the reader's preference, that is drawn on.
class SvgPlot {
 public:
  /// `label` for those who cannot see it; `style` is CSS beside what all plots have: the variables
  /// --ink, --soft, --line and --paper, and the classes soft, grid and paper.
  SvgPlot(std::string_view label, std::string_view title, std::string_view style);

  void line(double x1, double y1, double x2, double y2, std::string_view kind);
  void text(double x, double y, std::string_view words, std::string_view anchor,
            std::string_view kind);
  /// An element as it is.
  SvgPlot& operator+=(std::string_view element);
  /// The whole picture; nothing can be drawn any more.
  std::string take();

 private:
  std::string out_;
};

}  // namespace fathom::svg
