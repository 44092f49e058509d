// Lines over what was varied: every point has its place, and the picture is well-formed.
#include "render/line_plot.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace fathom {
namespace {

LinePlot plot_of(std::vector<std::string> values, std::vector<double> middles) {
  LinePlot plot;
  plot.title = "<train> & \"x\"";
  plot.x_title = "batch";
  plot.values = std::move(values);
  plot.value_text = [](double value) { return std::to_string(static_cast<std::int64_t>(value)); };
  LineSeries series{.name = "command", .points = {}};
  for (std::size_t i = 0; i < middles.size(); ++i) {
    series.points.push_back(
        {.place = i, .middle = middles[i], .low = 0.9 * middles[i], .high = 1.1 * middles[i]});
  }
  plot.series.push_back(std::move(series));
  return plot;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(LinePlot, HasAPointAndAnIntervalForEachValue) {
  const std::string svg = render_line_plot(plot_of({"8", "16", "32"}, {30, 20, 25}));
  EXPECT_EQ(count(svg, "<circle"), 3U);
  EXPECT_EQ(count(svg, "class=\"bar\""), 3U);
  EXPECT_EQ(count(svg, "<polyline"), 1U);
  EXPECT_EQ(svg.find("<train>"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(LinePlot, NumbersThatAscendStandByTheirLogarithm) {
  const std::string svg = render_line_plot(plot_of({"10", "1000", "100000"}, {1, 1, 1}));
  const std::string words = render_line_plot(plot_of({"a", "b", "c"}, {1, 1, 1}));
  // Both put the middle one in the middle; 10, 100, 100000 does not.
  const std::string middle = "cx=\"442.0\"";
  EXPECT_NE(svg.find(middle), std::string::npos);
  EXPECT_NE(words.find(middle), std::string::npos);
  EXPECT_EQ(render_line_plot(plot_of({"10", "100", "100000"}, {1, 1, 1})).find(middle),
            std::string::npos);
}

TEST(LinePlot, WithoutPointsOrWithOneItIsStillAPlot) {
  for (const LinePlot& plot : {plot_of({}, {}), plot_of({"1"}, {5}), plot_of({"1", "2"}, {0, 0}),
                               plot_of({"1", "2"}, {1, 1e9})}) {
    const std::string svg = render_line_plot(plot);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
  }
}

TEST(LinePlot, AMarkedPlaceIsNamed) {
  LinePlot plot = plot_of({"1", "2"}, {5, 4});
  plot.marked = 1;
  plot.mark = "knee";
  EXPECT_NE(render_line_plot(plot).find(">knee</text>"), std::string::npos);
}

}  // namespace
}  // namespace fathom
