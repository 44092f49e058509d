// Tables in memory: what a cell becomes, what is null, texts kept once; columns bound to rows.
#include "reports/table.h"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reports/report.h"
#include "reports/text_pool.h"

namespace fathom {
namespace {

using namespace std::string_view_literals;

constexpr ColumnSpec kName{.name = "name", .kind = ColumnKind::name, .unit = "", .doc = ""};
constexpr ColumnSpec kTotal{
    .name = "total_ns", .kind = ColumnKind::duration_ns, .unit = "ns", .doc = ""};
constexpr ColumnSpec kShare{
    .name = "percent", .kind = ColumnKind::percent, .unit = "percent", .doc = ""};
constexpr ColumnSpec kEdge{.name = "edge", .kind = ColumnKind::flag, .unit = "", .doc = ""};
constexpr ColumnSpec kMixed{
    .name = "value", .kind = ColumnKind::text, .unit = "", .doc = "", .mixed = true};

Table column_of(const ColumnSpec& column, const std::vector<Cell>& cells) {
  Table table({column});
  for (const Cell& cell : cells) table.append(0, cell);
  return table;
}

TEST(Table, GivesBackWhatWasAppended) {
  Table table({kName, kTotal, kShare, kEdge, kMixed});
  table.append_row(std::vector<Cell>{"mm"sv, std::int64_t{7}, 12.5, true, std::int64_t{3}});
  table.append_row(std::vector<Cell>{std::string("copy"), std::int64_t{-1}, 0.0, false, "x"sv});
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.at(0, 0), Value("mm"));
  EXPECT_EQ(table.at(1, 0), Value("copy"));
  EXPECT_EQ(table.at(0, 1), Value(std::int64_t{7}));
  EXPECT_EQ(table.at(1, 2), Value(0.0));
  EXPECT_EQ(table.at(0, 3), Value(true));
  EXPECT_EQ(table.at(1, 3), Value(false));
  EXPECT_EQ(table.at(0, 4), Value(std::int64_t{3}));
  EXPECT_EQ(table.at(1, 4), Value("x"));
}

TEST(Table, MarksNullsByABitWhereverTheFirstOneIs) {
  for (std::size_t first = 0; first < 20; ++first) {
    std::vector<Cell> cells(20, Cell(std::int64_t{1}));
    cells[first] = Cell();
    cells[19] = Cell();
    const Table table = column_of(kTotal, cells);
    EXPECT_EQ(table.data(0).nulls, first == 19 ? 1U : 2U);
    EXPECT_EQ(table.data(0).valid.size(), 3U);
    for (std::size_t row = 0; row < cells.size(); ++row) {
      const bool null = row == first || row == 19;
      EXPECT_EQ(is_null(table.at(row, 0)), null) << first << " " << row;
      EXPECT_EQ((table.data(0).valid[row / 8] >> (row % 8) & 1U) == 0, null);
    }
  }
}

TEST(Table, HasNoBitsWithoutNulls) {
  EXPECT_TRUE(column_of(kTotal, {std::int64_t{1}, std::int64_t{2}}).data(0).valid.empty());
}

TEST(Table, ANullIsZeroAmongIntegersAndNotANumberAmongReals) {
  const Table integers = column_of(kTotal, {INT64_MAX, Cell(), std::int64_t{7}});
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(integers.data(0).values),
            (std::vector<std::int64_t>{INT64_MAX, 0, 7}));
  const Table reals = column_of(kShare, {1.5, Cell(), std::int64_t{2}});
  const auto& values = std::get<std::vector<double>>(reals.data(0).values);
  EXPECT_EQ(values[0], 1.5);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], 2.0) << "an integer is a real where those are wanted";
}

TEST(Table, WhatTheKindDoesNotHoldIsNull) {
  EXPECT_TRUE(is_null(column_of(kTotal, {"text"sv}).at(0, 0)));
  EXPECT_TRUE(is_null(column_of(kName, {std::int64_t{1}}).at(0, 0)));
  EXPECT_TRUE(is_null(column_of(kEdge, {1.0}).at(0, 0)));
}

TEST(Table, KeepsEqualTextsOnce) {
  Table table({kName, kMixed});
  for (int i = 0; i < 1000; ++i)
    table.append_row(std::vector<Cell>{"aten::mm"sv, i % 2 == 0 ? "aten::mm"sv : "other"sv});
  const auto& names = std::get<ColumnData::Texts>(table.data(0).values).ids;
  EXPECT_EQ(names[0], names[999]);
  EXPECT_EQ(table.at(0, 0), table.at(998, 1));
}

TEST(Table, ASliceIsATableOfItsOwn) {
  Table slice;
  {
    Table table({kName, kTotal});
    for (std::int64_t i = 0; i < 10; ++i)
      table.append_row(std::vector<Cell>{"row " + std::to_string(i), i == 5 ? Cell() : Cell(i)});
    slice = table.slice(4, 7);
    EXPECT_EQ(table.slice(4, 7, 1).columns().size(), 1U);
  }
  ASSERT_EQ(slice.rows(), 3U);
  EXPECT_EQ(slice.at(0, 0), Value("row 4"));
  EXPECT_TRUE(is_null(slice.at(1, 1)));
  EXPECT_EQ(slice.at(2, 1), Value(std::int64_t{6}));
}

TEST(TextPool, KnowsATextByOneId) {
  TextPool pool;
  std::vector<TextPool::Id> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(pool.intern("text " + std::to_string(i)));
  const TextPool::Id empty = pool.intern("");
  EXPECT_EQ(pool.size(), 5001U);
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(pool.intern("text " + std::to_string(i)), ids[static_cast<std::size_t>(i)]);
    EXPECT_EQ(pool.text(ids[static_cast<std::size_t>(i)]), "text " + std::to_string(i));
  }
  EXPECT_EQ(pool.text(empty), "");
  EXPECT_EQ(pool.size(), 5001U);
}

TEST(Cell, IsNullForWhatIsNotThere) {
  EXPECT_TRUE(is_null(value_of(cell_of(std::optional<double>()))));
  EXPECT_TRUE(is_null(value_of(cell_of(std::numeric_limits<double>::infinity()))));
  EXPECT_TRUE(is_null(value_of(cell_of(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_EQ(value_of(cell_of(std::optional(duration_ns(5)))), Value(std::int64_t{5}));
  EXPECT_EQ(value_of(cell_of(std::uint8_t{5})), Value(std::int64_t{5}));
  EXPECT_EQ(value_of(cell_of("")), Value("")) << "an empty text is a text";
}

// What a column may be bound to is decided when it is compiled.
static_assert(detail::fits<std::optional<Duration>>(ColumnKind::time_ns));
static_assert(detail::fits<std::string>(ColumnKind::name));
static_assert(detail::fits<std::uint64_t>(ColumnKind::count));
static_assert(detail::fits<bool>(ColumnKind::flag));
static_assert(detail::fits<Cell>(ColumnKind::text));
static_assert(!detail::fits<double>(ColumnKind::count));
static_assert(!detail::fits<std::int64_t>(ColumnKind::percent));
static_assert(!detail::fits<Duration>(ColumnKind::count));
static_assert(!detail::fits<bool>(ColumnKind::integer));
static_assert(!detail::fits<std::string_view>(ColumnKind::real));

TEST(Report, HasAColumnForEachGetterInTheirOrder) {
  for (const Report& report : all_reports()) {
    const Trace trace;
    const Analyses analyses(trace);
    const Context context{.trace = trace, .analyses = analyses, .selection = {}, .options = {}};
    const Result<Computed> computed = report.compute(context, {});
    ASSERT_TRUE(computed.ok()) << report.id;
    const Table table = materialise(*computed->source, report.columns);
    EXPECT_EQ(table.columns().size(), report.columns.size()) << report.id;
    EXPECT_TRUE(computed->brief.empty() ||
                computed->brief.columns().size() == report.columns.size());
  }
}

}  // namespace
}  // namespace fathom
