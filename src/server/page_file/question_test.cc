#include "server/page_file/question.h"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

TEST(Question, OptionsAreInAlphabeticalOrderAndEmptyOnesLeftOut) {
  EXPECT_EQ(question("api/reports/ops", {{"steps", "3-7"}, {"device", ""}, {"limit", "5000"}}),
            "api/reports/ops?limit=5000&steps=3-7");
  EXPECT_EQ(question("api/session"), "api/session");
}

TEST(Question, OptionsOfOneNameKeepTheirOrder) {
  EXPECT_EQ(question("api/whatif", {{"scale", "b=0.5"}, {"scale", "a=0.5"}}),
            "api/whatif?scale=b%3D0.5&scale=a%3D0.5");
}

TEST(Question, EscapesAreThoseOfEncodeUriComponent) {
  EXPECT_EQ(question("p", {{"q", "aten::mm (a,b)*~'!\xc3\xa4 %"}}),
            "p?q=aten%3A%3Amm%20(a%2Cb)*~'!%C3%A4%20%25");
}

TEST(Question, AnotherInputIsAnOptionAmongTheOthers) {
  EXPECT_EQ(about_input("api/session", ""), "api/session");
  EXPECT_EQ(about_input("api/session", "1"), "api/session?input=1");
  EXPECT_EQ(about_input("api/tiles/ab?level=3&tile=0", "1"), "api/tiles/ab?input=1&level=3&tile=0");
  EXPECT_EQ(about_input("api/flame?begin=1&end=2", "1"), "api/flame?begin=1&end=2&input=1");
}

TEST(Question, ExactPatternsEscapeWhatHasAMeaning) {
  EXPECT_EQ(exact_pattern("f<4>(a.b*)[]"), "^f<4>\\(a\\.b\\*\\)\\[\\]$");
}

}  // namespace
}  // namespace fathom::server
