// Draws the charts of the diagnosis page as inline SVG.
#include "render/page/charts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "render/page/html.h"
#include "render/step_parts.h"

namespace fathom::page {
namespace {

constexpr double kWidth = 960;
constexpr std::pair<std::string_view, std::string_view> kStripKinds[] = {
    {"operator", "operators and annotations on the host"},
    {"call", "calls outside of operators"},
    {"compute", "compute kernels"},
    {"communication", "communication"},
    {"copy", "copies and fills"},
};

double ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

std::string rect(double x, double y, double width, double height, std::string_view css,
                 const std::string& title) {
  return "<rect class=\"" + std::string(css) + "\" x=\"" + coordinate(x) + "\" y=\"" +
         coordinate(y) + "\" width=\"" + coordinate(width) + "\" height=\"" + coordinate(height) +
         "\"><title>" + escaped_lines(title) + "</title></rect>";
}

/// On a narrow screen a chart scrolls rather than shrink its text; a bar has none.
std::string svg(double height, const std::string& inner, std::string_view label,
                std::string_view css = "chart") {
  return "<div class=\"scroll\"><svg class=\"" + std::string(css) +
         "\" role=\"img\" aria-label=\"" + std::string(label) + "\" viewBox=\"0 0 " +
         coordinate(kWidth) + " " + coordinate(height) + "\" preserveAspectRatio=\"none\">" +
         inner + "</svg></div>\n";
}

std::string label(double x, double y, const std::string& text, std::string_view anchor) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" +
         std::string(anchor) + "\">" + escaped(text) + "</text>";
}

Duration sum_of(const std::vector<StepPart>& parts) {
  Duration sum{};
  for (const StepPart& part : parts) sum += part.time;
  return sum;
}

}  // namespace

std::string accounting_bar(const Diagnosis& diagnosis) {
  const std::vector<StepPart> parts = parts_of(diagnosis);
  const double whole = ns(sum_of(parts));
  if (whole <= 0) return {};
  std::string bars;
  std::string legend = "<ul class=\"legend\">";
  double x = 0;
  for (const StepPart& part : parts) {
    const double width = kWidth * ns(part.time) / whole;
    const std::string share = percent_text(100.0 * ns(part.time) / whole);
    bars +=
        rect(x, 0, width, 36, "b-" + std::string(part.id), std::string(part.name) + " " + share);
    legend += "<li><i class=\"b-" + std::string(part.id) + "\"></i>" +
              term_link(part.name, part.name) + " " + share + "</li>";
    x += width;
  }
  return svg(36, bars, "Where the time of the steps goes", "bar") + legend + "</ul>\n";
}

std::string step_chart(const Diagnosis& diagnosis) {
  constexpr std::size_t kMost = 300;
  constexpr double kHeight = 180;
  constexpr double kBottom = 18;
  constexpr double kWidestStep = 120;
  const std::vector<StepAccount>& steps = diagnosis.steps;
  if (steps.empty()) return {};
  const std::size_t shown = std::min(steps.size(), kMost);
  Duration longest{1};
  for (const StepAccount& step : steps) longest = std::max(longest, step.window.length());
  const double room = std::min((kWidth - 70) / static_cast<double>(shown), kWidestStep);
  std::string inner;
  for (std::size_t i = 0; i < shown; ++i) {
    const StepAccount& step = steps[i * steps.size() / shown];
    const double x = 70 + room * static_cast<double>(i);
    const double scale = (kHeight - kBottom) / ns(longest);
    double y = kHeight - kBottom;
    for (const StepPart& part : parts_of(step, diagnosis.device >= 0)) {
      const double height = scale * ns(part.time);
      y -= height;
      inner += rect(x, y, std::max(room - 1, 0.5), height, "b-" + std::string(part.id),
                    "step " + std::to_string(step.number) + ": " + std::string(part.name) + " " +
                        duration_text(part.time) + " of " + duration_text(step.window.length()));
    }
  }
  inner += label(64, 10, duration_text(longest), "end") + label(64, kHeight - kBottom, "0", "end");
  inner += label(70, kHeight - 4, "step " + std::to_string(steps.front().number), "start");
  if (shown > 1) {
    inner += label(70 + room * static_cast<double>(shown), kHeight - 4,
                   std::to_string(steps.back().number), "end");
  }
  const double median =
      kHeight - kBottom - (kHeight - kBottom) * diagnosis.step_ns.median / ns(longest);
  inner += "<line class=\"median\" x1=\"70\" x2=\"" + coordinate(kWidth) + "\" y1=\"" +
           coordinate(median) + "\" y2=\"" + coordinate(median) + "\"><title>median</title></line>";
  return svg(kHeight, inner, "Length of each step, by bucket");
}

std::string timeline_strip(const Page& page) {
  constexpr double kRow = 22;
  const Interval window = page.median.window;
  const double whole = ns(window.length());
  if (whole <= 0 || page.strip.empty()) return {};
  std::string inner;
  double y = 0;
  for (const StripTrack& track : page.strip) {
    for (const StripTrack::Piece& piece : track.pieces) {
      const double x = kWidth * ns(piece.interval.begin - window.begin) / whole;
      const double width = kWidth * ns(piece.interval.length()) / whole;
      inner += rect(x, y + 1, std::max(width, 0.3), kRow - 2, "t-" + std::string(piece.kind),
                    piece.name + "\n" + duration_text(piece.interval.length()) + " at " +
                        duration_text(piece.interval.begin - window.begin));
    }
    inner += label(4, y + 15, track.name, "start");
    y += kRow;
  }
  std::string legend = "<ul class=\"legend\">";
  for (const auto& [kind, name] : kStripKinds) {
    legend += "<li><i class=\"t-" + std::string(kind) + "\"></i>" + std::string(name) + "</li>";
  }
  return svg(y, inner, "Threads and streams of the median step") +
         "<p class=\"axis\"><span>0</span><span>" + duration_text(window.length()) +
         "</span></p>\n" + legend + "</ul>\n";
}

std::string flame_graph(const Page& page) {
  constexpr double kRow = 18;
  if (page.flame.empty() || page.flame.front().total <= Duration{}) return {};
  const double whole = ns(page.flame.front().total);
  std::vector<double> next(1, 0.0);  // By depth: where the next frame of it begins, in ns.
  std::uint32_t deepest = 0;
  std::string inner;
  for (const FlameNode& node : page.flame) {
    if (next.size() <= node.depth + 1) next.resize(node.depth + 2, 0.0);
    const double begin = next[node.depth];
    next[node.depth] += ns(node.total);
    next[node.depth + 1] = begin;
    deepest = std::max(deepest, node.depth);
    const std::string title = node.name + "\n" + duration_text(node.total) + ", " +
                              percent_text(100.0 * ns(node.total) / whole);
    inner += "<div class=\"f\" data-d=\"" + std::to_string(node.depth) + "\" data-x=\"" +
             coordinate(100.0 * begin / whole) + "\" data-w=\"" +
             coordinate(100.0 * ns(node.total) / whole) +
             "\" style=\"left:" + coordinate(100.0 * begin / whole) +
             "%;width:" + coordinate(100.0 * ns(node.total) / whole) +
             "%;top:" + coordinate(kRow * node.depth) + "px\" title=\"" + escaped_lines(title) +
             "\">" + escaped(node.name) + "</div>";
  }
  return "<div class=\"flame\" style=\"height:" + coordinate(kRow * (deepest + 1)) + "px\">" +
         inner + "</div>\n";
}

}  // namespace fathom::page
