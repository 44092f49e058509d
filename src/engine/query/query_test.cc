#include "engine/query/query.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"name", ColumnKind::name, "", ""},
    {"calls", ColumnKind::count, "", ""},
    {"total_ns", ColumnKind::duration_ns, "ns", ""},
    {"percent", ColumnKind::percent, "percent", ""},
    {"edge", ColumnKind::flag, "", ""},
};

Report report() {
  return {.id = "test",
          .title = "",
          .doc = "",
          .columns = kColumns,
          .group_by = {},
          .sort = "-total_ns",
          .example = "",
          .compute = nullptr};
}

Table table() {
  Table result;
  result.rows = {
      {Value("aten::mm"), Value(std::int64_t{3}), Value(std::int64_t{2'000'000}), Value(50.0),
       Value(true)},
      {Value("gemm (x)"), Value(std::int64_t{10}), Value(std::int64_t{1'500'000}), Value(37.5),
       Value(false)},
      {Value("copy"), Value(std::int64_t{10}), Value(), Value(12.5), Value(false)},
  };
  return result;
}

/// The first column of what is left, e.g. "copy gemm".
std::string names(const Query& query) {
  static const Report kReport = report();
  const Result<View> view = apply(query, kReport, table());
  if (!view) return "error: " + view.error().message;
  std::string text;
  for (const std::vector<Value>& row : view->table.rows) {
    text += (text.empty() ? "" : ", ") + std::get<std::string>(row.front());
  }
  return text;
}
std::string filtered(std::vector<std::string> filters) {
  Query query;
  query.filters = std::move(filters);
  return names(query);
}
std::string sorted(const std::string& sort) {
  Query query;
  query.sort = sort;
  return names(query);
}

TEST(Query, UsesTheReportsOwnOrderWithoutASort) {
  EXPECT_EQ(names({}), "aten::mm, gemm (x), copy");
}

TEST(Query, SortsEitherWayAndKeepsMissingValuesLast) {
  EXPECT_EQ(sorted("+total_ns"), "gemm (x), aten::mm, copy");
  EXPECT_EQ(sorted("-total_ns"), "aten::mm, gemm (x), copy");
  EXPECT_EQ(sorted("name:desc"), "gemm (x), copy, aten::mm");
  EXPECT_EQ(sorted("name:asc"), "aten::mm, copy, gemm (x)");
}

TEST(Query, SortsQuantitiesLargestFirstAndNamesAscending) {
  EXPECT_EQ(sorted("total_ns"), "aten::mm, gemm (x), copy");
  EXPECT_EQ(sorted("name"), "aten::mm, copy, gemm (x)");
}

TEST(Query, OrdersEqualRowsByTheirOtherColumns) {
  EXPECT_EQ(sorted("-calls"), "copy, gemm (x), aten::mm");
  EXPECT_EQ(sorted("calls:asc"), "aten::mm, copy, gemm (x)");
}

TEST(Query, AcceptsAColumnWithoutItsUnit) {
  EXPECT_EQ(sorted("total"), "aten::mm, gemm (x), copy");
}

TEST(Query, MatchesTextByRegularExpressionIgnoringCase) {
  EXPECT_EQ(filtered({"name~GEMM"}), "gemm (x)");
  EXPECT_EQ(filtered({"name~^a.*mm$"}), "aten::mm");
  EXPECT_EQ(filtered({"name!~mm"}), "copy");
}

TEST(Query, ComparesTextExactly) {
  EXPECT_EQ(filtered({"name=copy"}), "copy");
  EXPECT_EQ(filtered({"name != copy"}), "aten::mm, gemm (x)");
}

TEST(Query, ComparesNumbersWithUnits) {
  EXPECT_EQ(filtered({"total_ns>1.6ms"}), "aten::mm");
  EXPECT_EQ(filtered({"total_ns>=1500000"}), "aten::mm, gemm (x)");
  EXPECT_EQ(filtered({"percent<20%"}), "copy");
}

TEST(Query, TakesYesAndNoAsTextShowsThem) {
  EXPECT_EQ(filtered({"edge=true"}), "aten::mm");
  EXPECT_EQ(filtered({"edge=yes"}), "aten::mm");
  EXPECT_EQ(filtered({"edge=no"}), "gemm (x), copy");
  EXPECT_NE(filtered({"edge=maybe"}).find("'maybe' is neither yes nor no"), std::string::npos);
}

TEST(Query, PassesRowsThatMeetAllConditions) {
  EXPECT_EQ(filtered({"calls=10", "name~x"}), "gemm (x)");
}

TEST(Query, FindsMissingValues) {
  EXPECT_EQ(filtered({"total_ns=null"}), "copy");
  EXPECT_EQ(filtered({"total_ns!=null"}), "aten::mm, gemm (x)");
}

TEST(Query, SaysWhatIsWrongWithACondition) {
  EXPECT_EQ(filtered({"name"}),
            "error: --filter 'name': write a column, a comparison and a value, e.g. 'name~gemm'");
  EXPECT_EQ(filtered({"nmae~x"}),
            "error: --filter 'nmae~x': there is no column 'nmae'; did you mean 'name'?");
  EXPECT_NE(filtered({"name~("}).find("not a regular expression"), std::string::npos);
  EXPECT_NE(filtered({"calls>many"}).find("'many' is not a number"), std::string::npos);
}

TEST(Query, SurvivesLongNamesInRegularExpressions) {
  Table long_name;
  long_name.rows = {{Value(std::string(1'000'000, 'a')), Value(), Value(), Value(), Value()}};
  Query query;
  query.filters = {"name~(a|b)*c"};
  const Report kReport = report();
  const Result<View> view = apply(query, kReport, std::move(long_name));
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->table.rows.empty());
}

TEST(Query, CutsAndCountsWhatWasThere) {
  Query query;
  query.limit = 1;
  const Report kReport = report();
  const Result<View> view = apply(query, kReport, table());
  ASSERT_TRUE(view);
  EXPECT_EQ(view->table.rows.size(), 1U);
  EXPECT_EQ(view->rows_total, 3U);
}

TEST(Query, ShowsChosenColumnsInTheirOrder) {
  Query query;
  query.columns = {"calls", "name"};
  const Report kReport = report();
  const Result<View> view = apply(query, kReport, table());
  ASSERT_TRUE(view);
  EXPECT_EQ(view->columns[0].name, "calls");
  EXPECT_EQ(std::get<std::string>(view->table.rows[0][1]), "aten::mm");
  EXPECT_TRUE(view->columns_chosen);
}

}  // namespace
}  // namespace fathom
