// Both axes are powers of ten; what is drawn is computed in plot coordinates first.
#include "render/roofline_svg.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "render/page/html.h"
#include "render/svg_plot.h"
#include "render/units.h"

namespace fathom {
namespace {

using page::escaped;
using svg::fixed;
using svg::general;
using svg::joined;
using svg::kBottom;
using svg::kHeight;
using svg::kLeft;
using svg::kRight;
using svg::kTop;
using svg::kWidth;
using svg::LogAxis;
using svg::SvgPlot;

constexpr double kWorthLabel = 0.02;  // of the longest row's time
constexpr std::size_t kLabels = 6;    // of the rows that take longest

constexpr std::string_view kColours =
    ":root{--compute:#2f7d32;--bandwidth:#1f6feb;--latency:#c2410c;--unknown:#8b949e}\n"
    "@media (prefers-color-scheme:dark){:root{--compute:#56d364;--bandwidth:#79b8ff;"
    "--latency:#ffa657;--unknown:#8b949e}}\n"
    ".roof{stroke:var(--ink);stroke-width:1.6;fill:none}\n"
    ".compute{fill:var(--compute)}.bandwidth{fill:var(--bandwidth)}.latency{fill:var(--latency)}"
    ".unknown{fill:var(--unknown)}.dot{fill-opacity:.55;stroke:var(--paper)}\n";

struct Point {
  std::string name;
  std::string shapes;
  std::string bound;
  double time_ns = 0;
  double intensity = 0;
  double flops = 0;  // achieved, per second
  std::optional<double> percent;
};

struct Roof {
  double flops;
  double bytes;
  std::string arithmetic;
};

struct Plot {
  std::vector<Point> points;  // by device time, descending
  std::vector<Roof> roofs;
  std::size_t without_arithmetic = 0;
  double without_ns = 0;
};

/// Reads the cells of a row by the names of columns.
class Cells {
 public:
  explicit Cells(const Table& table) : table_(table) {
    for (std::size_t i = 0; i < table.columns().size(); ++i) place_[table.columns()[i].name] = i;
  }
  [[nodiscard]] std::string text(std::size_t row, std::string_view name) const {
    const Value value = table_.at(row, place_.at(name));
    const auto* const text = std::get_if<std::string_view>(&value);
    return text == nullptr ? std::string() : std::string(*text);
  }
  [[nodiscard]] std::optional<double> number(std::size_t row, std::string_view name) const {
    const Value value = table_.at(row, place_.at(name));
    if (const auto* const real = std::get_if<double>(&value)) return *real;
    if (const auto* const whole = std::get_if<std::int64_t>(&value))
      return static_cast<double>(*whole);
    return std::nullopt;
  }

 private:
  const Table& table_;
  std::map<std::string_view, std::size_t> place_;
};

Plot plot_of(const View& view) {
  const Cells cells(view.table);
  Plot plot;
  std::map<std::pair<double, double>, std::string> roofs;
  for (std::size_t row = 0; row < view.table.rows(); ++row) {
    const double time = cells.number(row, "device_total_ns").value_or(0);
    const double intensity = cells.number(row, "intensity").value_or(0);
    const double flops = cells.number(row, "achieved_tflops").value_or(0) * 1e12;
    if (intensity <= 0 || flops <= 0) {
      ++plot.without_arithmetic;
      plot.without_ns += time;
      continue;
    }
    plot.points.push_back({.name = cells.text(row, "name"),
                           .shapes = cells.text(row, "input_shapes"),
                           .bound = cells.text(row, "bound"),
                           .time_ns = time,
                           .intensity = intensity,
                           .flops = flops,
                           .percent = cells.number(row, "roof_percent")});
    const double peak = cells.number(row, "peak_tflops").value_or(0) * 1e12;
    const double bytes = cells.number(row, "peak_gbs").value_or(0) * 1e9;
    if (peak > 0 && bytes > 0) roofs.try_emplace({peak, bytes}, cells.text(row, "arithmetic"));
  }
  for (const auto& [peaks, arithmetic] : roofs)
    plot.roofs.push_back({peaks.first, peaks.second, arithmetic});
  std::ranges::stable_sort(plot.points, std::ranges::greater(), &Point::time_ns);
  return plot;
}

std::string rate_text(double flops) {
  constexpr std::string_view kUnits[] = {"FLOP/s",  "kFLOP/s", "MFLOP/s",
                                         "GFLOP/s", "TFLOP/s", "PFLOP/s"};
  std::size_t unit = 0;
  while (flops >= 999.5 && unit + 1 < std::size(kUnits)) {
    flops /= 1000;
    ++unit;
  }
  return joined({general(flops, 3), " ", kUnits[unit]});
}

class Drawing {
 public:
  Drawing(const Plot& plot, const View& view)
      : plot_(plot), paper_("Roofline", "Roofline of " + view.input, kColours) {
    std::vector<double> intensities;
    std::vector<double> rates;
    for (const Point& point : plot.points) {
      intensities.push_back(point.intensity);
      rates.push_back(point.flops);
    }
    for (const Roof& roof : plot.roofs) {
      intensities.push_back(roof.flops / roof.bytes);  // where the roof bends
      rates.push_back(roof.flops);
    }
    x_ = svg::log_axis(intensities, kLeft, kWidth - kRight);
    y_ = svg::log_axis(rates, kHeight - kBottom, kTop);
    frame(view);
    roofs();
    points();
  }
  std::string take() { return paper_.take(); }

 private:
  void frame(const View& view) {
    for (int e = x_.first; e <= x_.last; ++e) {
      const double x = x_.at(std::pow(10, e));
      paper_.line(x, kTop, x, kHeight - kBottom, "grid");
      paper_.text(x, kHeight - kBottom + 18, general(std::pow(10, e), 6), "middle", "soft");
    }
    for (int e = y_.first; e <= y_.last; ++e) {
      const double y = y_.at(std::pow(10, e));
      paper_.line(kLeft, y, kWidth - kRight, y, "grid");
      paper_.text(kLeft - 6, y + 4, rate_text(std::pow(10, e)), "end", "soft");
    }
    paper_.text((kLeft + kWidth - kRight) / 2, kHeight - kBottom + 38,
                "intensity, floating-point operations per byte", "middle", "soft");
    caption(view);
  }

  void caption(const View& view) {
    std::string words = view.notes.empty() ? std::string() : view.notes.front();
    if (plot_.without_arithmetic > 0) {
      words += joined({" ", std::to_string(plot_.without_arithmetic), " rows of ",
                       format_duration(static_cast<std::int64_t>(plot_.without_ns)),
                       " are not shown: no arithmetic, or not known."});
    }
    paper_.text(kLeft, kHeight - 14, words, "start", "soft");
    double x = kWidth - kRight;
    for (const std::string_view bound : {"latency", "bandwidth", "compute"}) {
      paper_.text(x, 22, bound, "end", "soft");
      x -= 7.0 * static_cast<double>(bound.size()) + 8;
      paper_ += joined(
          {R"(<circle class=")", bound, R"(" cx=")", fixed(x), R"(" cy="18" r="5"/>)", "\n"});
      x -= 14;
    }
  }

  void roofs() {
    const double low = std::pow(10, x_.first);
    const double high = std::pow(10, x_.last);
    const double floor = std::pow(10, y_.first);
    for (const Roof& roof : plot_.roofs) {
      // From the floor or the left edge, whichever the slope meets last.
      const double start = std::max(low, floor / roof.bytes);
      const double bend = std::min(high, roof.flops / roof.bytes);
      const auto at = [&](double x) {
        return joined({fixed(x_.at(x)), " ", fixed(y_.at(std::min(roof.flops, x * roof.bytes)))});
      };
      paper_ += joined({R"(<path class="roof" d="M)", fixed(x_.at(start)), " ",
                        fixed(y_.at(start * roof.bytes)), "L", at(bend), "L", at(high), "\"/>\n"});
      paper_.text(kWidth - kRight - 4, y_.at(roof.flops) - 5,
                  rate_text(roof.flops) + ' ' + roof.arithmetic, "end", "soft");
    }
    // Many roofs share a slope, which is named once.
    std::map<double, double> bends;
    for (const Roof& roof : plot_.roofs)
      bends[roof.bytes] = std::max(bends[roof.bytes], roof.flops / roof.bytes);
    for (const auto& [slope, bend] : bends) {
      const double middle = std::sqrt(std::max(low, floor / slope) * std::min(high, bend));
      paper_.text(x_.at(middle) - 8, y_.at(middle * slope) - 8, fixed(slope * 1e-9, 0) + " GB/s",
                  "end", "soft");
    }
  }

  void points() {
    const double longest = plot_.points.empty() ? 1 : std::max(1.0, plot_.points.front().time_ns);
    for (std::size_t i = plot_.points.size(); i-- > 0;) {  // the largest last, on top
      const Point& point = plot_.points[i];
      const double radius = radius_of(point, longest);
      const double x = x_.at(point.intensity);
      const double y = y_.at(point.flops);
      const std::string percent =
          point.percent ? ", " + fixed(*point.percent) + " % of its roof" : std::string();
      paper_ += joined({R"(<circle class="dot )", point.bound.empty() ? "unknown" : point.bound,
                        R"(" cx=")", fixed(x), R"(" cy=")", fixed(y), R"(" r=")", fixed(radius),
                        R"("><title>)", escaped(point.name), "\n", escaped(point.shapes), "\n",
                        format_duration(static_cast<std::int64_t>(point.time_ns)), ", ",
                        rate_text(point.flops), percent, "</title></circle>\n"});
    }
    labels(longest);
  }

  /// Names of the rows that take longest, each once, where there is room.
  void labels(double longest) {
    std::vector<std::pair<double, double>> placed;
    std::vector<std::string_view> named;
    for (const Point& point : plot_.points) {
      if (named.size() == kLabels || point.time_ns < kWorthLabel * longest) return;
      const double x = x_.at(point.intensity);
      const double y = y_.at(point.flops);
      const bool taken = std::ranges::any_of(placed, [&](const auto& other) {
        return std::abs(other.second - y) < 14 && std::abs(other.first - x) < 220;
      });
      if (taken || std::ranges::find(named, point.name) != named.end()) continue;
      placed.emplace_back(x, y);
      named.push_back(point.name);
      const double radius = radius_of(point, longest);
      const bool left = x > kWidth * 0.6;
      paper_.text(left ? x - radius - 4 : x + radius + 4, y + 4, point.name, left ? "end" : "start",
                  "");
    }
  }

  static double radius_of(const Point& point, double longest) {
    return std::max(2.5, 16 * std::sqrt(point.time_ns / longest));
  }

  const Plot& plot_;
  LogAxis x_{};
  LogAxis y_{};
  SvgPlot paper_;
};

}  // namespace

bool has_roofline(const Report& report) {
  return std::ranges::find(report.columns, "roof_percent", &ColumnSpec::name) !=
         report.columns.end();
}

std::string render_roofline_svg(const View& view) { return Drawing(plot_of(view), view).take(); }

}  // namespace fathom
