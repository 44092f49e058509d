#include "capture/launcher/amounts.h"

#include <gtest/gtest.h>

namespace fathom::capture {
namespace {

TEST(Amounts, DurationsHaveUnitsAndSecondsNeedNone) {
  EXPECT_EQ(*parse_duration("30s"), duration_ns(30'000'000'000));
  EXPECT_EQ(*parse_duration("500ms"), duration_ns(500'000'000));
  EXPECT_EQ(*parse_duration("2min"), duration_ns(120'000'000'000));
  EXPECT_EQ(*parse_duration("1.5 h"), duration_ns(5'400'000'000'000));
  EXPECT_EQ(*parse_duration("0.25"), duration_ns(250'000'000));
}

TEST(Amounts, WhatIsNoDurationIsRefusedWithAnExample) {
  for (const char* text : {"", "s", "-1s", "3 parsecs", "1e400", "nan", "99999999999h", "1s2"}) {
    const Result<Duration> parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(parsed.error().message.find("such as 30s"), std::string::npos);
  }
}

TEST(Amounts, SizesAreDecimalOrBinaryByTheirUnit) {
  EXPECT_EQ(*parse_size("4096"), 4096);
  EXPECT_EQ(*parse_size("256MB"), 256'000'000);
  EXPECT_EQ(*parse_size("256MiB"), 268'435'456);
  EXPECT_EQ(*parse_size("64k"), 65'536);
  EXPECT_EQ(*parse_size("1.5GiB"), 1'610'612'736);
}

TEST(Amounts, WhatIsNoSizeIsRefused) {
  for (const char* text : {"", "MB", "-1", "12 apples", "1e30TB"})
    EXPECT_FALSE(parse_size(text)) << text;
}

}  // namespace
}  // namespace fathom::capture
