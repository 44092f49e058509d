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

TEST(Units, ShowsSizesInBinaryUnits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(4096), "4 KiB");
  EXPECT_EQ(format_bytes(85'018'279'936), "79.18 GiB");
  EXPECT_EQ(format_bytes(-1536), "-1.500 KiB");
}

TEST(Units, SeparatesThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
}

TEST(Units, KeepsSmallSharesVisible) {
  EXPECT_EQ(format_percent(29.83), "29.8 %");
  EXPECT_EQ(format_percent(0.04), "0.04 %");
  EXPECT_EQ(format_percent(0.0001), "< 0.01 %");
  EXPECT_EQ(format_percent(0), "0.0 %");
}

TEST(Units, ShowsRealsWithoutExponentWhereTheyAreReadable) {
  EXPECT_EQ(format_real(0.121), "0.121");
  EXPECT_EQ(format_real(12.3456), "12.35");
  EXPECT_EQ(format_real(123456.7), "123,457");
  EXPECT_EQ(format_real(1e-7), "1.000e-07");
  EXPECT_EQ(format_real(0.0 / 0.0), kNoValue);
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
