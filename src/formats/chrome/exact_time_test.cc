// Microseconds to nanoseconds: exact, whatever way the number is written.
#include "formats/chrome/exact_time.h"

#include <string>

#include <gtest/gtest.h>

#include "formats/chrome/json_scan.h"

namespace fathom {
namespace {

struct ReadBack {
  TimeStatus status;
  ExactTime time;
  std::size_t used;
};

ReadBack read(std::string text) {
  const std::size_t size = text.size();
  text.append(json::kPadding, '\0');
  const char* p = text.data();
  ExactTime time;
  const TimeStatus status = read_microseconds(p, text.data() + size, time);
  return {status, time, p == nullptr ? size : static_cast<std::size_t>(p - text.data())};
}

std::int64_t ns(const std::string& text) {
  const ReadBack result = read(text + ",");
  EXPECT_EQ(result.status, TimeStatus::ok) << text;
  EXPECT_EQ(result.used, text.size()) << text;
  return result.time.rounded();
}

TEST(ExactTime, ReadsWhatKinetoWrites) {
  EXPECT_EQ(ns("0"), 0);
  EXPECT_EQ(ns("8"), 8000);
  EXPECT_EQ(ns("1623142623606173"), 1623142623606173000);
  EXPECT_EQ(ns("1712195495509889.253"), 1712195495509889253);
  EXPECT_EQ(ns("5.4"), 5400);
  EXPECT_EQ(ns("5.44"), 5440);
  EXPECT_EQ(ns("1428625774490.784"), 1428625774490784);
}

TEST(ExactTime, RoundsHalfAwayFromZeroAtTheThirdDecimal) {
  EXPECT_EQ(ns("1.0004999999"), 1000);
  EXPECT_EQ(ns("1.0005"), 1001);
  EXPECT_EQ(ns("-1.0005"), -1001);
  EXPECT_EQ(ns("-1.0004"), -1000);
  EXPECT_EQ(ns("0.0005"), 1);
  EXPECT_EQ(ns("1712195495509889.2535"), 1712195495509889254);
}

TEST(ExactTime, ReadsExponentsQuotesAndSigns) {
  EXPECT_EQ(ns("1.5e3"), 1500000);
  EXPECT_EQ(ns("1.623142623606173E15"), 1623142623606173000);
  EXPECT_EQ(ns("25e-4"), 3);
  EXPECT_EQ(ns("-3"), -3000);
  EXPECT_EQ(ns("\"1712195495509889.253\""), 1712195495509889253);
  EXPECT_EQ(ns("0000000000000000000012"), 12000);
  EXPECT_EQ(ns("0e400"), 0);
}

TEST(ExactTime, AddsBeforeRounding) {
  const ExactTime start = read("0.0004,").time;
  const ExactTime duration = read("0.0004,").time;
  EXPECT_EQ(start.rounded(), 0);
  EXPECT_EQ((start + duration).rounded(), 1);
}

TEST(ExactTime, SaysWhatIsNotATime) {
  EXPECT_EQ(read("NaN,").status, TimeStatus::not_finite);
  EXPECT_EQ(read("-Infinity,").status, TimeStatus::not_finite);
  EXPECT_EQ(read("1e30,").status, TimeStatus::out_of_range);
  EXPECT_EQ(read("99999999999999999999999,").status, TimeStatus::out_of_range);
  EXPECT_EQ(read("abc,").status, TimeStatus::malformed);
  EXPECT_EQ(read("{}").status, TimeStatus::malformed);
}

TEST(ExactTime, KnowsThatANumberMayGoOn) {
  EXPECT_EQ(read("162314").status, TimeStatus::incomplete);
  EXPECT_EQ(read("162314.2").status, TimeStatus::incomplete);
  EXPECT_EQ(read("\"12").status, TimeStatus::incomplete);
}

TEST(ExactTime, GarbageDurationsFitWhileTheyFit) {
  EXPECT_EQ(ns("1000000000000000"), 1000000000000000000);
  EXPECT_EQ(ns("4000000000000000"), 4000000000000000000);
  EXPECT_EQ(read("4000000000000001,").status, TimeStatus::out_of_range);
  EXPECT_EQ(read("-4.1e15,").status, TimeStatus::out_of_range);
}

}  // namespace
}  // namespace fathom
