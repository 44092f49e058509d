#include <gtest/gtest.h>

#include "reports/answer.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

Answer rows_of(TraceBuilder& builder, const std::string& group_by = {}) {
  return {"ranges", builder.build(), group_by};
}

Value text(std::string_view value) { return Value(value); }

TEST(Ranges, AreSummedUpByNameAndDomain) {
  TraceBuilder builder;
  builder.annotation("read", 0, 10).argument("domain", "io").argument("payload", "4");
  builder.annotation("read", 20, 30).argument("domain", "io").argument("payload", "-1");
  builder.annotation("read", 60, 5);
  const Answer rows = rows_of(builder);
  ASSERT_EQ(rows.rows(), 2U);
  EXPECT_EQ(rows.at(0, "name"), text("read"));
  EXPECT_EQ(rows.at(0, "domain"), text("io"));
  EXPECT_EQ(rows.at(0, "calls"), Value(std::int64_t{2}));
  EXPECT_EQ(rows.at(0, "total_ns"), Value(std::int64_t{40}));
  EXPECT_EQ(rows.at(0, "min_ns"), Value(std::int64_t{10}));
  EXPECT_EQ(rows.at(0, "payload_mean"), Value(1.5));
  EXPECT_EQ(rows.at(0, "color"), Value());
  EXPECT_EQ(rows.at(1, "domain"), Value());
  EXPECT_EQ(rows.at(1, "calls"), Value(std::int64_t{1}));
}

TEST(Ranges, TheColourIsOfTheFirstThatHasOne) {
  TraceBuilder builder;
  builder.annotation("read", 0, 10);
  builder.annotation("read", 20, 10).argument("color", "#ff00ff80");
  EXPECT_EQ(rows_of(builder).text(0, "color"), "#ff00ff80");
}

TEST(Ranges, MarksHaveNoDuration) {
  TraceBuilder builder;
  builder.annotation("read", 0, 10);
  builder.instant("saved", 5);
  const Answer rows = rows_of(builder);
  ASSERT_EQ(rows.rows(), 2U);
  EXPECT_EQ(rows.at(1, "name"), text("saved"));
  EXPECT_EQ(rows.at(1, "total_ns"), Value());
}

TEST(Ranges, OfSeveralThreadsAreToldApartWhereThatIsAskedFor) {
  for (const std::string by : {"name", "thread"}) {
    TraceBuilder builder;
    builder.on_thread(1).annotation("read", 0, 10);
    builder.on_thread(2).annotation("read", 0, 10);
    EXPECT_EQ(rows_of(builder, by).rows(), by == "name" ? 1U : 2U);
  }
}

TEST(Ranges, StepsAndOperatorsAreElsewhere) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.op("aten::mm", 10, 10);
  EXPECT_EQ(rows_of(builder).rows(), 0U);
}

}  // namespace
}  // namespace fathom
