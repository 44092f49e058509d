#include "base/quantity_text.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(QuantityText, ShowsSizesInBinaryUnits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(4096), "4 KiB");
  EXPECT_EQ(bytes_text(85'018'279'936), "79.18 GiB");
  EXPECT_EQ(bytes_text(-1536), "-1.500 KiB");
}

TEST(QuantityText, SeparatesThousands) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(-1234567), "-1,234,567");
}

TEST(QuantityText, KeepsSmallSharesVisible) {
  EXPECT_EQ(percent_text(29.83), "29.8 %");
  EXPECT_EQ(percent_text(0.04), "0.04 %");
  EXPECT_EQ(percent_text(0.0001), "< 0.01 %");
  EXPECT_EQ(percent_text(0), "0.0 %");
  EXPECT_EQ(percent_text(-167.94), "−167.9 %");
  EXPECT_EQ(percent_text(-0.04), "−0.04 %");
  EXPECT_EQ(percent_text(-0.0001), "> −0.01 %");
}

TEST(QuantityText, ShowsRealsWithoutExponentWhereTheyAreReadable) {
  EXPECT_EQ(real_text(0.121), "0.121");
  EXPECT_EQ(real_text(12.3456), "12.35");
  EXPECT_EQ(real_text(123456.7), "123,457");
  EXPECT_EQ(real_text(1e-7), "1.000e-07");
  EXPECT_EQ(real_text(-0.58), "−0.580");
  EXPECT_EQ(real_text(-123456.7), "−123,457");
  EXPECT_EQ(real_text(0.0 / 0.0), kNoValue);
}

}  // namespace
}  // namespace fathom
