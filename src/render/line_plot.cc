// Places what was varied along the foot, and draws each series above it.
#include "render/line_plot.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "render/page/html.h"
#include "render/svg_plot.h"

namespace fathom {
namespace {

using page::escaped;
using svg::fixed;
using svg::joined;

constexpr double kSpread = 20;  // beyond it an axis from 0 on hides the small ones
constexpr std::size_t kMostLabels = 16;
constexpr std::array<std::string_view, 4> kKinds = {"one", "two", "three", "four"};
constexpr std::string_view kColours =
    ":root{--one:#1f6feb;--two:#c2410c;--three:#2f7d32;--four:#8250df}\n"
    "@media (prefers-color-scheme:dark){:root{--one:#79b8ff;--two:#ffa657;--three:#56d364;"
    "--four:#d2a8ff}}\n"
    ".one{--own:var(--one)}.two{--own:var(--two)}.three{--own:var(--three)}"
    ".four{--own:var(--four)}\n"
    "polyline{fill:none;stroke:var(--own);stroke-width:1.6}circle,rect.key{fill:var(--own)}"
    "line.bar{stroke:var(--own);stroke-width:1.2}"
    ".mark{stroke:var(--soft);stroke-dasharray:4 3}\n";

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Of each value its place along the foot, in pixels.
std::vector<double> places_of(const std::vector<std::string>& values) {
  constexpr double kFrom = svg::kLeft + 24;
  constexpr double kTo = svg::kWidth - svg::kRight - 24;
  std::vector<double> logs;
  for (const std::string& value : values) {
    const std::optional<double> number = number_of(value);
    const bool ascends = number && *number > 0 && (logs.empty() || std::log(*number) > logs.back());
    if (!ascends) break;
    logs.push_back(std::log(*number));
  }
  std::vector<double> places;
  const bool by_number = logs.size() == values.size() && values.size() > 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double part = by_number ? (logs[i] - logs.front()) / (logs.back() - logs.front())
                        : values.size() > 1
                            ? static_cast<double>(i) / static_cast<double>(values.size() - 1)
                            : 0.5;
    places.push_back(kFrom + (kTo - kFrom) * part);
  }
  return places;
}

class Drawing {
 public:
  explicit Drawing(const LinePlot& plot)
      : plot_(plot), places_(places_of(plot.values)), paper_(plot.title, plot.title, kColours) {
    heights();
    foot();
    if (plot.marked) mark();
    for (std::size_t i = 0; i < plot.series.size(); ++i) draw(plot.series[i], i);
  }
  std::string take() { return paper_.take(); }

 private:
  [[nodiscard]] double height(double value) const {
    return logarithmic_ ? log_.at(std::max(value, lowest_)) : linear_.at(std::max(0.0, value));
  }

  void heights() {
    std::vector<double> values;
    for (const LineSeries& series : plot_.series) {
      for (const LinePoint& point : series.points) {
        values.push_back(point.middle);
        values.push_back(point.high);
      }
    }
    const double most = values.empty() ? 1 : *std::ranges::max_element(values);
    lowest_ = values.empty() ? 1 : *std::ranges::min_element(values);
    logarithmic_ = lowest_ > 0 && most > kSpread * lowest_;
    const double foot = svg::kHeight - svg::kBottom;
    log_ = svg::log_axis(logarithmic_ ? values : std::vector<double>(), foot, svg::kTop);
    linear_ = svg::linear_axis(most, foot, svg::kTop);
    std::vector<double> ticks;
    if (logarithmic_) {
      for (int e = log_.first; e <= log_.last; ++e) ticks.push_back(std::pow(10, e));
    } else {
      for (int i = 0; i * linear_.step <= linear_.last * 1.0001; ++i)
        ticks.push_back(i * linear_.step);
    }
    for (const double tick : ticks) {
      const double y = height(tick);
      paper_.line(svg::kLeft, y, svg::kWidth - svg::kRight, y, "grid");
      paper_.text(svg::kLeft - 6, y + 4, plot_.value_text(tick), "end", "soft");
    }
  }

  void foot() {
    const double y = svg::kHeight - svg::kBottom;
    const std::size_t each = 1 + places_.size() / kMostLabels;
    for (std::size_t i = 0; i < places_.size(); i += each)
      paper_.text(places_[i], y + 18, plot_.values[i], "middle", "soft");
    const double middle = (svg::kLeft + svg::kWidth - svg::kRight) / 2;
    paper_.text(middle, y + 38, plot_.x_title, "middle", "soft");
    paper_.text(svg::kLeft, svg::kHeight - 14, plot_.caption, "start", "soft");
    paper_.text(svg::kLeft, svg::kTop - 6, plot_.y_title, "start", "soft");
  }

  void mark() {
    const double x = places_[*plot_.marked];
    paper_.line(x, svg::kTop, x, svg::kHeight - svg::kBottom, "mark");
    const bool left = x > svg::kWidth / 2;
    paper_.text(left ? x - 6 : x + 6, svg::kTop + 14, plot_.mark, left ? "end" : "start", "");
  }

  void draw(const LineSeries& series, std::size_t number) {
    const std::string_view kind = kKinds[number % kKinds.size()];
    std::string corners;
    for (const LinePoint& point : series.points)
      corners += joined({fixed(places_[point.place]), ",", fixed(height(point.middle)), " "});
    paper_ += joined({R"(<g class=")", kind, R"("><polyline points=")", corners, "\"/>\n"});
    for (const LinePoint& point : series.points) {
      const double x = places_[point.place];
      if (point.high > point.low) paper_.line(x, height(point.low), x, height(point.high), "bar");
      paper_ += joined({R"(<circle cx=")", fixed(x), R"(" cy=")", fixed(height(point.middle)),
                        R"(" r="4"><title>)", escaped(series.name), ", ",
                        escaped(plot_.values[point.place]), ": ",
                        escaped(plot_.value_text(point.middle)), "</title></circle>\n"});
    }
    if (plot_.series.size() > 1) {
      const double y = 18 + 16 * static_cast<double>(number);
      paper_ += joined({R"(<rect class="key" x=")", fixed(svg::kWidth - svg::kRight - 10),
                        R"(" y=")", fixed(y - 8), R"(" width="10" height="10"/>)", "\n"});
      paper_.text(svg::kWidth - svg::kRight - 16, y + 1, series.name, "end", "soft");
    }
    paper_ += "</g>\n";
  }

  const LinePlot& plot_;
  std::vector<double> places_;
  svg::SvgPlot paper_;
  svg::LogAxis log_{};
  svg::LinearAxis linear_{};
  double lowest_ = 0;
  bool logarithmic_ = false;
};

}  // namespace

std::string render_line_plot(const LinePlot& plot) { return Drawing(plot).take(); }

}  // namespace fathom
