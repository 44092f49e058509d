#include <gtest/gtest.h>

#include "reports/report.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

using Row = std::vector<Value>;

std::vector<Row> rows_of(TraceBuilder& builder, const std::string& group_by = {}) {
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  Result<Table> table =
      find_report("ranges")->compute(Context{trace, analyses, {}, {.group_by = group_by}});
  EXPECT_TRUE(table.ok());
  return table ? std::move(table->rows) : std::vector<Row>();
}

Value cell(const Row& row, std::string_view column) {
  const std::span<const ColumnSpec> columns = find_report("ranges")->columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == column) return row.at(i);
  }
  ADD_FAILURE() << "no column " << column;
  return {};
}

TEST(Ranges, AreSummedUpByNameAndDomain) {
  TraceBuilder builder;
  builder.annotation("read", 0, 10).argument("domain", "io").argument("payload", "4");
  builder.annotation("read", 20, 30).argument("domain", "io").argument("payload", "-1");
  builder.annotation("read", 60, 5);
  const auto rows = rows_of(builder);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(cell(rows[0], "name"), Value(std::string("read")));
  EXPECT_EQ(cell(rows[0], "domain"), Value(std::string("io")));
  EXPECT_EQ(cell(rows[0], "calls"), Value(std::int64_t{2}));
  EXPECT_EQ(cell(rows[0], "total_ns"), Value(std::int64_t{40}));
  EXPECT_EQ(cell(rows[0], "min_ns"), Value(std::int64_t{10}));
  EXPECT_EQ(cell(rows[0], "payload_mean"), Value(1.5));
  EXPECT_EQ(cell(rows[0], "color"), Value());
  EXPECT_EQ(cell(rows[1], "domain"), Value());
  EXPECT_EQ(cell(rows[1], "calls"), Value(std::int64_t{1}));
}

TEST(Ranges, TheColourIsOfTheFirstThatHasOne) {
  TraceBuilder builder;
  builder.annotation("read", 0, 10);
  builder.annotation("read", 20, 10).argument("color", "#ff00ff80");
  EXPECT_EQ(cell(rows_of(builder)[0], "color"), Value(std::string("#ff00ff80")));
}

TEST(Ranges, MarksHaveNoDuration) {
  TraceBuilder builder;
  builder.annotation("read", 0, 10);
  builder.instant("saved", 5);
  const auto rows = rows_of(builder);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(cell(rows[1], "name"), Value(std::string("saved")));
  EXPECT_EQ(cell(rows[1], "total_ns"), Value());
}

TEST(Ranges, OfSeveralThreadsAreToldApartWhereThatIsAskedFor) {
  for (const std::string by : {"name", "thread"}) {
    TraceBuilder builder;
    builder.on_thread(1).annotation("read", 0, 10);
    builder.on_thread(2).annotation("read", 0, 10);
    EXPECT_EQ(rows_of(builder, by).size(), by == "name" ? 1U : 2U);
  }
}

TEST(Ranges, StepsAndOperatorsAreElsewhere) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.op("aten::mm", 10, 10);
  EXPECT_TRUE(rows_of(builder).empty());
}

}  // namespace
}  // namespace fathom
