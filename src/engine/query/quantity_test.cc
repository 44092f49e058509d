#include "engine/query/quantity.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

double value(std::string_view text, QuantityKind kind) {
  const Result<double> number = parse_quantity(text, kind);
  EXPECT_TRUE(number) << text;
  return number ? *number : -1;
}

TEST(Quantity, ReadsDurationsInEveryUnit) {
  EXPECT_EQ(value("1500", QuantityKind::duration), 1500);
  EXPECT_EQ(value("1.5us", QuantityKind::duration), 1500);
  EXPECT_EQ(value("2 µs", QuantityKind::duration), 2000);
  EXPECT_EQ(value("1ms", QuantityKind::duration), 1e6);
  EXPECT_EQ(value("2s", QuantityKind::duration), 2e9);
}

TEST(Quantity, ReadsSizesWithBinaryAndDecimalUnits) {
  EXPECT_EQ(value("4KiB", QuantityKind::bytes), 4096);
  EXPECT_EQ(value("4kB", QuantityKind::bytes), 4000);
  EXPECT_EQ(value("1.5GiB", QuantityKind::bytes), 1.5 * 1024 * 1024 * 1024);
}

TEST(Quantity, RefusesUnitsOfAnotherKind) {
  EXPECT_FALSE(parse_quantity("4KiB", QuantityKind::duration));
  EXPECT_FALSE(parse_quantity("4ms", QuantityKind::bytes));
  EXPECT_FALSE(parse_quantity("ms", QuantityKind::duration));
  EXPECT_FALSE(parse_quantity("", QuantityKind::plain));
  EXPECT_FALSE(parse_quantity("nan", QuantityKind::plain));
}

TEST(Steps, ReadsOneStepAndOpenRanges) {
  EXPECT_EQ(parse_steps("5")->first, 5);
  EXPECT_EQ(parse_steps("5")->last, 5);
  EXPECT_EQ(parse_steps("3-7")->last, 7);
  EXPECT_EQ(parse_steps("3-")->last, INT64_MAX);
  EXPECT_EQ(parse_steps("-7")->first, 0);
}

TEST(Steps, RefusesWhatIsNoRange) {
  for (const std::string_view text : {"", "-", "7-3", "a", "3-b", "3--4", "99999999999999999999"}) {
    EXPECT_FALSE(parse_steps(text)) << text;
  }
}

TEST(Window, ReadsBoundsWithUnitsAndOpenEnds) {
  EXPECT_EQ(parse_window("10ms:25ms")->begin, duration_ns(10'000'000));
  EXPECT_EQ(parse_window("10ms:25ms")->end, duration_ns(25'000'000));
  EXPECT_EQ(parse_window(":5us")->begin, Duration{});
  EXPECT_EQ(parse_window("0:5us")->end, duration_ns(5000));
  EXPECT_EQ(parse_window("1s:")->end, Duration::max());
}

TEST(Window, RefusesMissingUnitsAndEmptyStretches) {
  for (const std::string_view text : {"1:2", "5ms", "2ms:1ms", "1ms:1ms", "x:y", ""}) {
    EXPECT_FALSE(parse_window(text)) << text;
  }
}

TEST(Window, ClampsTimesBeyondAnyTrace) {
  EXPECT_GT(parse_window("1s:1e30s")->end, duration_ns(8'000'000'000'000'000'000));
}

}  // namespace
}  // namespace fathom
