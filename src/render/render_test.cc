// Whole tables through each renderer.
#include <gtest/gtest.h>

#include "base/json_writer.h"
#include "render/csv.h"
#include "render/json.h"
#include "render/text.h"
#include "render/text_width.h"

namespace fathom {
namespace {

using namespace std::string_view_literals;

constexpr ColumnSpec kColumns[] = {
    {"name", ColumnKind::name, "", "What."},
    {"calls", ColumnKind::count, "", "How often."},
    {"total_ns", ColumnKind::duration_ns, "ns", "How long."},
    {"bandwidth", ColumnKind::real, "GB/s", "How fast."},
    {"note", ColumnKind::text, "", "Why.", true},
    {"thread", ColumnKind::text, "", "Where, when grouped by thread.", true, "thread"},
};
constexpr std::string_view kImportance[] = {"name", "total_ns"};

const Report& report() {
  static const Report kReport = {.id = "test",
                                 .title = "A test",
                                 .doc = "",
                                 .group_by = {},
                                 .sort = "",
                                 .example = "",
                                 .importance = kImportance};
  return kReport;
}

/// Texts, numbers and nulls in rows.
Table table_of(std::span<const ColumnSpec> columns, const std::vector<std::vector<Cell>>& rows) {
  Table table(std::vector<ColumnSpec>(columns.begin(), columns.end()));
  for (const std::vector<Cell>& row : rows) table.append_row(row);
  return table;
}

View view() {
  View result;
  result.report = &report();
  result.input = "trace.json";
  result.table = table_of(
      kColumns,
      {{"void a_rather_long_kernel_name_that_goes_on(int, float)"sv, std::int64_t{1234},
        std::int64_t{98'720}, Cell(), "x"sv, "main"sv},
       {"say \"hi\",\n\x1b"sv, std::int64_t{1}, std::int64_t{850}, Cell(), Cell(), "worker"sv}});
  result.notes = {"a note"};
  result.rows_total = 5;
  return result;
}

std::string text(std::size_t width, bool wide = false) {
  Style style;
  style.width = width;
  style.wide = wide;
  return render_text(view(), style);
}

TEST(Render, TextFitsTheWidth) {
  for (std::size_t width = 20; width < 120; ++width) {
    const std::string all = text(width);
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = all.find('\n', at);
      EXPECT_LE(display_width(std::string_view(all).substr(at, end - at)), width) << all;
      at = end + 1;
    }
  }
}

TEST(Render, TextShowsTitleValuesForPeopleAndNotes) {
  const std::string all = text(100);
  for (const char* part : {"A test   trace.json", "98.72 µs", "1,234", "say \"hi\",␊␛", "a note"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  }
}

TEST(Render, TextTellsWhatItLeavesOut) {
  EXPECT_NE(text(100).find("3 more rows (--limit 0 shows all)"), std::string::npos);
  EXPECT_NE(text(100).find("empty here: bandwidth"), std::string::npos);
  EXPECT_NE(text(26).find("no room for"), std::string::npos);
}

TEST(Render, TextLeavesOutTheLeastImportantColumnFirst) {
  const std::string narrow = text(34);
  EXPECT_NE(narrow.find("98.72 µs"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("no room for: calls"), std::string::npos) << narrow;
}

TEST(Render, TextShowsWhatRowsAreGroupedByBesideTheName) {
  EXPECT_EQ(text(100).find("thread"), std::string::npos);
  View grouped = view();
  grouped.group_by = "thread";
  const std::string all = render_text(grouped, Style{.width = 100});
  EXPECT_LT(all.find("thread"), all.find("calls")) << all;
  EXPECT_NE(all.find("worker"), std::string::npos) << all;
}

TEST(Render, TextThatIsNoNameIsCutAtItsEnd) {
  constexpr ColumnSpec kSource[] = {{"location", ColumnKind::name, "", "Where."},
                                    {"source", ColumnKind::text, "", "What stands there."}};
  View lines = view();
  lines.table = table_of(kSource, {{"a.py:1"sv, "    for i in range(10): cached(i % 3)"sv},
                                   {"a.py:2"sv, "x = g(); next(x); x.close()"sv}});
  const std::string narrow = render_text(lines, Style{.width = 28});
  EXPECT_NE(narrow.find("    for i in rang…\n"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("x = g(); next(x);…\n"), std::string::npos) << narrow;
}

TEST(Render, WideTextShortensNothing) {
  const std::string all = text(30, true);
  EXPECT_NE(all.find("void a_rather_long_kernel_name_that_goes_on(int, float)"), std::string::npos);
  EXPECT_EQ(all.find("…"), std::string::npos);
}

TEST(Render, AGivenWidthNeverCostsColumns) {
  Style style;
  style.width = 30;
  style.soft_width = true;
  const std::string all = render_text(view(), style);
  EXPECT_NE(all.find("98.72 µs"), std::string::npos);
  EXPECT_EQ(all.find("no room for"), std::string::npos);
}

TEST(Render, ColoursOnlyWhenAsked) {
  Style style;
  EXPECT_EQ(render_text(view(), style).find('\x1b'), std::string::npos);
  style.colour = true;
  EXPECT_NE(render_text(view(), style).find("\x1b[1m"), std::string::npos);
}

TEST(Render, JsonEscapesAndKeepsRawIntegers) {
  const std::string json = render_json(view());
  EXPECT_NE(
      json.find(R"("name": "say \"hi\",\n\u001b", "calls": 1, "total_ns": 850, "bandwidth": null)"),
      std::string::npos)
      << json;
  EXPECT_NE(
      json.find(R"({"name": "total_ns", "kind": "duration_ns", "unit": "ns", "doc": "How long."})"),
      std::string::npos);
}

TEST(Render, JsonStringsAreUtf8WhateverComesIn) {
  EXPECT_EQ(json_string("µ\xff"), "\"µ\\ufffd\"");
  EXPECT_EQ(json_string("a\\b"), "\"a\\\\b\"");
}

TEST(Render, JsonNumbersRoundTripAndNotANumberIsNull) {
  EXPECT_EQ(json_value(Value(0.1)), "0.1");
  EXPECT_EQ(json_value(Value(0.0 / 0.0)), "null");
  EXPECT_EQ(json_value(Value(INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(json_value(Value(true)), "true");
}

TEST(Render, CsvQuotesWhereItMust) {
  EXPECT_EQ(csv_header(view(), true), "input,name,calls,total_ns,bandwidth,note,thread\r\n");
  EXPECT_EQ(csv_rows(view(), false),
            "\"void a_rather_long_kernel_name_that_goes_on(int, float)\",1234,98720,,x,main\r\n"
            "\"say \"\"hi\"\",\n\x1b\",1,850,,,worker\r\n");
}

constexpr ColumnSpec kSections[] = {
    {"section", ColumnKind::text, "", ""},
    {"name", ColumnKind::name, "", ""},
    {"value", ColumnKind::text, "", "", false, {}, true},
    {"unit", ColumnKind::text, "", ""},
    {"note", ColumnKind::text, "", ""},
};

TEST(Render, SectionsAreBlocksWithValuesInTheirOwnUnits) {
  View blocks;
  blocks.report = &report();
  blocks.table = table_of(kSections, {{"time"sv, "span"sv, std::int64_t{1'500'000}, "ns"sv, Cell()},
                                      {"time"sv, "busy"sv, 62.5, "percent"sv, "as recorded"sv},
                                      {"file"sv, "format"sv, "chrome-json"sv, ""sv, Cell()}});
  blocks.rows_total = 3;
  Style style;
  EXPECT_EQ(render_text(blocks, style),
            "A test   \n\n"
            "time\n"
            "  span    1.500 ms\n"
            "  busy      62.5 %  as recorded\n"
            "\n"
            "file\n"
            "  format  chrome-json\n");
}

TEST(Render, SectionsShowTheBriefRowsUnlessWide) {
  View blocks;
  blocks.report = &report();
  blocks.table = table_of(kSections, {{"time"sv, "all of it"sv, "x"sv, ""sv, Cell()}});
  blocks.brief = table_of(kSections, {{"time"sv, "in short"sv, "x"sv, ""sv, Cell()}});
  blocks.rows_total = 1;
  Style style;
  EXPECT_NE(render_text(blocks, style).find("in short"), std::string::npos);
  style.wide = true;
  EXPECT_NE(render_text(blocks, style).find("all of it"), std::string::npos);
}

}  // namespace
}  // namespace fathom
