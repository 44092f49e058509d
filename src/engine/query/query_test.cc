#include "engine/query/query.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

struct Row {
  std::string name;
  std::int64_t calls = 0;
  std::optional<Duration> total;
  double percent = 0;
  bool edge = false;
};
using Tested = ReportRows<Row>;

constexpr Tested::Column kColumns[] = {
    {"name", ColumnKind::name, "", "", [](const Row& row) { return std::string_view(row.name); }},
    {"calls", ColumnKind::count, "", "", by<&Row::calls>},
    {"total_ns", ColumnKind::duration_ns, "ns", "", by<&Row::total>},
    {"percent", ColumnKind::percent, "percent", "", by<&Row::percent>},
    {"edge", ColumnKind::flag, "", "", by<&Row::edge>},
};

Result<Tested> three_rows(const Context& /*context*/) {
  return Tested{.rows = {{"aten::mm", 3, duration_ns(2'000'000), 50.0, true},
                         {"gemm (x)", 10, duration_ns(1'500'000), 37.5, false},
                         {"copy", 10, {}, 12.5, false}}};
}

Result<Tested> a_long_name(const Context& /*context*/) {
  return Tested{.rows = {{std::string(1'000'000, 'a'), 0, {}, 0, false}}};
}

template <auto kCompute = three_rows>
const Report& report() {
  static const Report kReport = report_of<kColumns, kCompute>(
      {.id = "test", .title = "", .doc = "", .group_by = {}, .sort = "-total_ns", .example = ""});
  return kReport;
}

/// What is left of the rows, or an error.
template <auto kCompute = three_rows>
Result<View> asked(const Query& query) {
  const Trace trace;
  const Analyses analyses(trace);
  const Context context{.trace = trace, .analyses = analyses, .selection = {}, .options = {}};
  return apply(query, report<kCompute>(), *report<kCompute>().compute(context, {}));
}

/// The first column of what is left, e.g. "copy gemm".
std::string names(const Query& query) {
  const Result<View> view = asked(query);
  if (!view) return "error: " + view.error().message;
  std::string text;
  for (std::size_t row = 0; row < view->table.rows(); ++row) {
    text += text.empty() ? "" : ", ";
    text += std::get<std::string_view>(view->table.at(row, 0));
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
  Query query;
  query.filters = {"name~(a|b)*c"};
  const Result<View> view = asked<a_long_name>(query);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->table.empty());
}

TEST(Query, CutsAndCountsWhatWasThere) {
  Query query;
  query.limit = 1;
  const Result<View> view = asked(query);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->table.rows(), 1U);
  EXPECT_EQ(view->rows_total, 3U);
}

TEST(Query, ShowsChosenColumnsInTheirOrder) {
  Query query;
  query.columns = {"calls", "name"};
  const Result<View> view = asked(query);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->columns()[0].name, "calls");
  EXPECT_EQ(std::get<std::string_view>(view->table.at(0, 1)), "aten::mm");
  EXPECT_TRUE(view->columns_chosen);
}

}  // namespace
}  // namespace fathom
