#include "engine/query/nearest.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::string_view kWords[] = {"overview", "ops", "kernels", "health"};

TEST(Nearest, FindsTheWordBehindASlip) {
  EXPECT_EQ(nearest("kernals", kWords), "kernels");
  EXPECT_EQ(nearest("opverview", kWords), "overview");
  EXPECT_EQ(nearest("healht", kWords), "health");
}

TEST(Nearest, TakesABeginningForTheWord) { EXPECT_EQ(nearest("over", kWords), "overview"); }

TEST(Nearest, FindsNothingBeyondTheSlipsThatAreAllowed) {
  EXPECT_EQ(nearest("kernals", kWords, 1), "kernels");
  EXPECT_EQ(nearest("karnals", kWords, 1), "");
}

TEST(Nearest, FindsNothingWhereNothingIsNear) {
  EXPECT_EQ(nearest("zebra", kWords), "");
  EXPECT_EQ(nearest(std::string(1000, 'k'), kWords), "");
}

}  // namespace
}  // namespace fathom
