#include "render/flame_svg.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"stack", ColumnKind::name, "", "Where."},
    {"total_ns", ColumnKind::duration_ns, "ns", "How long."},
};

std::string drawn(std::initializer_list<std::pair<std::string, std::int64_t>> stacks) {
  View view;
  view.input = "a.json";
  view.table = Table({std::begin(kColumns), std::end(kColumns)});
  for (const auto& [stack, ns] : stacks) view.table.append_row(std::vector<Cell>{stack, ns});
  return render_flame_svg(view);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(FlameSvg, FramesWithTheSameCallersAreOneAndAsWideAsTheirTime) {
  const std::string svg = drawn({{"main;work", 3'000'000}, {"main", 1'000'000}, {"idle", 0}});
  EXPECT_EQ(count(svg, "<title>main\n4.000 ms, 100.0 %"), 1U) << svg;
  EXPECT_EQ(count(svg, "<title>work\n3.000 ms, 75.0 %"), 1U) << svg;
  // 1176 px are 4 ms.
  EXPECT_EQ(count(svg, R"(x="12.00" y="92.0" width="882.00")"), 2U) << svg;
  EXPECT_EQ(count(svg, "idle"), 0U);
}

TEST(FlameSvg, TheWidestChildIsLeftmost) {
  const std::string svg = drawn({{"a", 1000}, {"b", 3000}});
  EXPECT_LT(svg.find("<title>b\n"), svg.find("<title>a\n"));
}

TEST(FlameSvg, WhatIsTooThinToBeSeenIsLeftOut) {
  const std::string svg = drawn({{"a", 1'000'000'000}, {"b", 10}});
  EXPECT_EQ(count(svg, "<title>b\n"), 0U);
  EXPECT_EQ(count(svg, "<title>all\n1.000 s"), 1U) << svg;
}

TEST(FlameSvg, NamesRunNothingAndAnEmptyTableIsAnEmptyPicture) {
  const std::string svg = drawn({{"<script>&\"", 1000}});
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_TRUE(drawn({}).ends_with("</svg>\n"));
}

}  // namespace
}  // namespace fathom
