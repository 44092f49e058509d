#include "render/column_arrays.h"

#include <cmath>

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr ColumnSpec kName{.name = "name", .kind = ColumnKind::name, .unit = "", .doc = ""};
constexpr ColumnSpec kTotal{
    .name = "total_ns", .kind = ColumnKind::duration_ns, .unit = "ns", .doc = ""};
constexpr ColumnSpec kShare{
    .name = "percent", .kind = ColumnKind::percent, .unit = "percent", .doc = ""};
constexpr ColumnSpec kEdge{.name = "edge", .kind = ColumnKind::flag, .unit = "", .doc = ""};

View view_of(ColumnSpec column, std::vector<Value> values) {
  View view;
  view.columns = {column};
  for (Value& value : values) view.table.rows.push_back({std::move(value)});
  return view;
}

TEST(ColumnArrays, IntegersStayIntegersAndNullsAreMarked) {
  const std::int64_t large = INT64_MAX;
  const auto arrays = column_arrays(view_of(kTotal, {large, Value(), std::int64_t{7}}));
  ASSERT_EQ(arrays.size(), 1U);
  EXPECT_EQ(arrays[0].length, 3);
  EXPECT_EQ(arrays[0].nulls, 1);
  EXPECT_EQ(arrays[0].valid, std::vector<std::uint8_t>{0b101});
  EXPECT_EQ(std::get<0>(arrays[0].values), (std::vector<std::int64_t>{large, 0, 7}));
}

TEST(ColumnArrays, WithoutNullsThereAreNoBits) {
  const auto arrays = column_arrays(view_of(kTotal, {std::int64_t{1}, std::int64_t{2}}));
  EXPECT_TRUE(arrays[0].valid.empty());
}

TEST(ColumnArrays, ANumberThatIsNoneIsNullAsInJson) {
  const auto arrays = column_arrays(view_of(kShare, {1.5, HUGE_VAL, std::int64_t{2}}));
  EXPECT_EQ(arrays[0].nulls, 1);
  EXPECT_EQ(std::get<1>(arrays[0].values)[0], 1.5);
  EXPECT_EQ(std::get<1>(arrays[0].values)[2], 2.0);
}

TEST(ColumnArrays, FlagsAreBytesAndBits) {
  std::vector<Value> values(9, false);
  values[0] = true;
  values[8] = true;
  const auto arrays = column_arrays(view_of(kEdge, values));
  const auto& flags = std::get<FlagArray>(arrays[0].values);
  EXPECT_EQ(flags.bits, (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(flags.bytes.size(), 9U);
  EXPECT_EQ(flags.bytes[8], 1);
}

TEST(ColumnArrays, TextLiesInOnePieceAndIsValidUtf8) {
  const auto arrays =
      column_arrays(view_of(kName, {std::string("ab"), Value(), std::string("\xFF")}));
  const auto& text = std::get<TextArray>(arrays[0].values);
  EXPECT_EQ(text.bytes, "ab\xEF\xBF\xBD");
  EXPECT_EQ(text.offsets, (std::vector<std::int64_t>{0, 2, 2, 5}));
}

TEST(ColumnArrays, ANumberAmongTextsIsWrittenOut) {
  const auto arrays = column_arrays(view_of(kName, {std::string("x"), std::int64_t{12}}));
  EXPECT_EQ(std::get<TextArray>(arrays[0].values).bytes, "x12");
}

TEST(ColumnArrays, AnEmptyTableHasEmptyColumns) {
  const auto arrays = column_arrays(view_of(kName, {}));
  EXPECT_EQ(arrays[0].length, 0);
  EXPECT_EQ(std::get<TextArray>(arrays[0].values).offsets.size(), 1U);
}

}  // namespace
}  // namespace fathom
