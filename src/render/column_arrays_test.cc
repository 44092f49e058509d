#include "render/column_arrays.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

using namespace std::string_view_literals;

Table column_of(const ColumnSpec& column, const std::vector<Cell>& cells) {
  Table table({column});
  for (const Cell& cell : cells) table.append(0, cell);
  return table;
}

constexpr ColumnSpec kName{.name = "name", .kind = ColumnKind::name, .unit = "", .doc = ""};
constexpr ColumnSpec kMixed{
    .name = "value", .kind = ColumnKind::text, .unit = "", .doc = "", .mixed = true};
constexpr ColumnSpec kEdge{.name = "edge", .kind = ColumnKind::flag, .unit = "", .doc = ""};

TEST(ColumnArrays, FlagsAreBits) {
  std::vector<Cell> cells(9, false);
  cells[0] = true;
  cells[5] = Cell();
  cells[8] = true;
  const Table table = column_of(kEdge, cells);
  EXPECT_EQ(flag_bits(std::get<ColumnData::Flags>(table.data(0).values)),
            (std::vector<std::uint8_t>{1, 1}));
}

TEST(ColumnArrays, TextLiesInOnePieceAndIsValidUtf8) {
  const TextArray text = text_array(column_of(kName, {"ab"sv, Cell(), "\xFF"sv}), 0);
  EXPECT_EQ(text.bytes, "ab\xEF\xBF\xBD");
  EXPECT_EQ(text.offsets, (std::vector<std::int64_t>{0, 2, 2, 5}));
}

TEST(ColumnArrays, ANumberAmongTextsIsWrittenOut) {
  EXPECT_EQ(text_array(column_of(kMixed, {"x"sv, std::int64_t{12}, 0.5}), 0).bytes, "x120.5");
}

TEST(ColumnArrays, AnEmptyTableHasEmptyColumns) {
  EXPECT_EQ(text_array(column_of(kName, {}), 0).offsets.size(), 1U);
}

}  // namespace
}  // namespace fathom
