// A plot of values over what was varied: lines with intervals, as SVG.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

struct LinePoint {
  std::size_t place = 0;  ///< In LinePlot::values.
  double middle = 0;
  double low = 0;  ///< Of its interval; the value itself where there is none.
  double high = 0;
};

struct LineSeries {
  std::string name;
  std::vector<LinePoint> points;  ///< By place.
};

struct LinePlot {
  std::string title;
  std::string x_title;
  std::string y_title;
  std::string caption;
  /// What was varied, in its order. Where all are positive numbers that ascend, places are by
  /// their logarithm; else they are apart alike.
  std::vector<std::string> values;
  std::vector<LineSeries> series;     ///< Four at most have a colour of their own.
  std::optional<std::size_t> marked;  ///< A place that is named, …
  std::string mark;                   ///< … and how.
  std::function<std::string(double)> value_text;
};

/// A self-contained SVG, light and dark by the reader's preference. The other axis is from 0 on, or
/// logarithmic where values differ by more than 20 times.
std::string render_line_plot(const LinePlot& plot);

}  // namespace fathom
