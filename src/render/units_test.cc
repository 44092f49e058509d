#include "render/units.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Units, ShowsDurationsWithFourDigits) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(850), "850 ns");
  EXPECT_EQ(format_duration(1234), "1.234 µs");
  EXPECT_EQ(format_duration(98'720), "98.72 µs");
  EXPECT_EQ(format_duration(123'456'789), "123.5 ms");
  EXPECT_EQ(format_duration(999'999), "1.000 ms") << "rounding carries into the next unit";
  EXPECT_EQ(format_duration(5'000'000'000'000), "5,000 s ");
  EXPECT_EQ(format_duration(-1500), "-1.500 µs");
  EXPECT_EQ(format_duration(INT64_MIN).substr(0, 2), "-9");
}

TEST(Units, ShowsAValueInTheUnitOfItsRow) {
  EXPECT_EQ(format_value_in(Value(std::int64_t{1500}), "ns"), "1.500 µs");
  EXPECT_EQ(format_value_in(Value(12.5), "GB/s"), "12.50 GB/s");
  EXPECT_EQ(format_value_in(Value(std::int64_t{12040}), ""), "12040");
  EXPECT_EQ(format_value_in(Value(), "ns"), kNoValue);
}

TEST(Units, HeadingsLeaveTheUnitToTheValues) {
  const auto heading = [](std::string_view name, ColumnKind kind, std::string_view unit = {}) {
    return heading_of({name, kind, unit, ""});
  };
  EXPECT_EQ(heading("device_self_ns", ColumnKind::duration_ns), "device self");
  EXPECT_EQ(heading("share_percent", ColumnKind::percent), "share %");
  EXPECT_EQ(heading("percent", ColumnKind::percent), "%");
  EXPECT_EQ(heading("bandwidth", ColumnKind::real, "GB/s"), "GB/s");
}

}  // namespace
}  // namespace fathom
