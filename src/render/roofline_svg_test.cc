// The plot: what is drawn, and that it is well-formed.
#include "render/roofline_svg.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// A view of the report with rows of (name, device time, intensity, TFLOP/s).
View view_with(std::vector<std::tuple<std::string, std::int64_t, Cell, Cell>> rows) {
  const Report& report = *find_report("roofline");
  View view{.report = &report, .input = "a<b>.json"};
  view.table = Table({report.columns.begin(), report.columns.end()});
  for (auto& [name, time, intensity, rate] : rows) {
    std::vector<Cell> cells(view.columns().size());
    const auto set = [&](std::string_view column, Cell value) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (view.columns()[i].name == column) cells[i] = value;
      }
    };
    set("name", name);
    set("device_total_ns", time);
    set("intensity", intensity);
    set("achieved_tflops", rate);
    set("peak_tflops", 100.0);
    set("peak_gbs", 1000.0);
    set("arithmetic", std::string("bf16 matrix"));
    view.table.append_row(cells);
  }
  view.notes = {"Peaks of X."};
  return view;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(RooflineSvg, drawsADiscPerRowAndARoofPerPeak) {
  const std::string svg = render_roofline_svg(
      view_with({{"aten::mm", 1000, 100.0, 50.0}, {"aten::add", 500, 0.25, 0.1}}));
  EXPECT_EQ(count(svg, "<circle class=\"dot"), 2U);
  EXPECT_EQ(count(svg, "<path class=\"roof\""), 1U);
  EXPECT_NE(svg.find("100 TFLOP/s bf16 matrix"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(RooflineSvg, countsRowsThatHaveNoPlace) {
  const std::string svg = render_roofline_svg(view_with(
      {{"aten::mm", 1000, 100.0, 50.0}, {"aten::copy_", 2000, 0.0, 0.0}, {"x", 10, {}, {}}}));
  EXPECT_EQ(count(svg, "<circle class=\"dot"), 1U);
  EXPECT_NE(svg.find("2 rows of"), std::string::npos);
}

TEST(RooflineSvg, textIsEscaped) {
  const std::string svg = render_roofline_svg(view_with({{"<script>&\"", 1000, 100.0, 50.0}}));
  EXPECT_EQ(svg.find("<script>"), std::string::npos);
  EXPECT_NE(svg.find("a&lt;b&gt;.json"), std::string::npos);
}

TEST(RooflineSvg, nothingToShowIsStillAPlot) {
  const std::string svg = render_roofline_svg(view_with({}));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace fathom
