// Writes the elements of a plot.
#include "render/svg_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "render/page/html.h"

namespace fathom::svg {
namespace {

using page::escaped;

constexpr std::string_view kStyle =
    ":root{--ink:#1b1f24;--soft:#6a737d;--line:#d8dee4;--paper:#fff}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#30363d;"
    "--paper:#0d1117}}\n"
    "text{font:12px system-ui,sans-serif;fill:var(--ink)}.soft{fill:var(--soft)}"
    ".grid{stroke:var(--line)}.paper{fill:var(--paper)}\n";

std::string number(double value, std::chars_format format, int digits) {
  std::array<char, 400> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, digits).ptr;
  return {text.data(), end};
}

}  // namespace

double LogAxis::at(double value) const {
  return from + (to - from) * (std::log10(value) - first) / (last - first);
}

LogAxis log_axis(const std::vector<double>& values, double from, double to) {
  LogAxis axis{.first = 0, .last = 1, .from = from, .to = to};
  if (values.empty()) return axis;
  const auto [low, high] = std::ranges::minmax(values);
  axis.first = static_cast<int>(std::floor(std::log10(low)));
  axis.last = std::max(axis.first + 1, static_cast<int>(std::ceil(std::log10(high))));
  return axis;
}

LinearAxis linear_axis(double largest, double from, double to) {
  LinearAxis axis{.from = from, .to = to};
  if (!(largest > 0)) return axis;
  axis.step = std::pow(10, std::floor(std::log10(largest)));
  for (const double finer : {0.5, 0.2}) {
    if (largest / axis.step < 4) axis.step *= finer / (finer == 0.2 ? 0.5 : 1);
  }
  axis.last = axis.step * std::ceil(largest / axis.step);
  return axis;
}

std::string fixed(double value, int decimals) {
  return number(value, std::chars_format::fixed, decimals);
}
std::string general(double value, int digits) {
  return number(value, std::chars_format::general, digits);
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

SvgPlot::SvgPlot(std::string_view label, std::string_view title, std::string_view style) {
  const std::string width = fixed(kWidth, 0);
  const std::string height = fixed(kHeight, 0);
  out_ = joined({R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )",
                 width,
                 " ",
                 height,
                 R"(" width=")",
                 width,
                 R"(" height=")",
                 height,
                 R"(" role="img" aria-label=")",
                 escaped(label),
                 "\">\n<style>\n",
                 kStyle,
                 style,
                 "</style>\n",
                 R"(<rect class="paper" width=")",
                 width,
                 R"(" height=")",
                 height,
                 "\"/>\n",
                 R"(<text x=")",
                 fixed(kLeft, 0),
                 R"(" y="22" font-weight="600">)",
                 escaped(title),
                 "</text>\n"});
}

void SvgPlot::line(double x1, double y1, double x2, double y2, std::string_view kind) {
  out_ += joined({R"(<line class=")", kind, R"(" x1=")", fixed(x1), R"(" y1=")", fixed(y1),
                  R"(" x2=")", fixed(x2), R"(" y2=")", fixed(y2), "\"/>\n"});
}

void SvgPlot::text(double x, double y, std::string_view words, std::string_view anchor,
                   std::string_view kind) {
  out_ += joined({R"(<text x=")", fixed(x), R"(" y=")", fixed(y), R"(" text-anchor=")", anchor,
                  R"(" class=")", kind, R"(">)", escaped(words), "</text>\n"});
}

SvgPlot& SvgPlot::operator+=(std::string_view element) {
  out_ += element;
  return *this;
}

std::string SvgPlot::take() {
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace fathom::svg
