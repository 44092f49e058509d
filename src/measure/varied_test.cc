// Values that are varied: how they are read, and where they go.
#include "measure/varied.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

using Values = std::vector<std::string>;

TEST(Varied, ValuesAreListedInTheirOrder) {
  const Result<Varied> varied = parse_sweep("batch=32,8,16", 4);
  ASSERT_TRUE(varied);
  EXPECT_EQ(varied->name, "batch");
  EXPECT_EQ(varied->values, (Values{"32", "8", "16"}));
}

TEST(Varied, WorkersGoUpToTheCoresByThemselves) {
  EXPECT_EQ(parse_sweep("num_workers=auto", 6)->values, (Values{"0", "1", "2", "4", "6"}));
  EXPECT_EQ(parse_sweep("num_workers=auto", 8)->values, (Values{"0", "1", "2", "4", "8"}));
  EXPECT_EQ(parse_sweep("workers=auto", 1)->values, (Values{"0", "1"}));
  EXPECT_FALSE(parse_sweep("batch=auto", 4));
}

TEST(Varied, MistakesAreRefused) {
  for (const char* const text : {"", "=1,2", "batch", "batch=", "batch=8", "batch=8,8",
                                 "batch=8,,9", "8batch=1,2", "a b=1,2"}) {
    EXPECT_FALSE(parse_sweep(text, 4)) << text;
  }
  for (const char* const text : {"", "n=0", "n=5..4", "n=a", "n=1..", "n=1.5", "n=-1..4"})
    EXPECT_FALSE(parse_range(text)) << text;
}

TEST(Varied, ARangeMayBeOpen) {
  const Result<VariedRange> open = parse_range("n=1000");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->first, 1000);
  EXPECT_EQ(open->last, 0);
  EXPECT_EQ(parse_range("n=8..64")->last, 64);
  EXPECT_EQ(parse_range("batch")->first, 1);
}

TEST(Varied, AValueReplacesItsPlaceElseItIsAVariable) {
  const Result<Commanded> placed = with_value({"train", "--b={b}", "{b}{b}", "{c}"}, "b", "{b}");
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->words, (Values{"train", "--b={b}", "{b}{b}", "{c}"}));
  EXPECT_TRUE(placed->environment.empty());
  EXPECT_EQ(with_value({"train", "--b={b}"}, "b", "16")->words, (Values{"train", "--b=16"}));
  const Result<Commanded> variable = with_value({"train"}, "b", "16");
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable->environment, (Values{"b=16"}));
  EXPECT_FALSE(with_value({"train"}, "batch-size", "16"));
}

TEST(Varied, WhatIsRunBeforeHasTheValueInBothWays) {
  const Result<Commanded> command = with_value({"cat", "{n}.bin"}, "n", "16", "make {n} > {n}.bin");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->prepare, "make 16 > 16.bin");
  EXPECT_EQ(command->prepare_environment, (Values{"n=16"}));
  EXPECT_TRUE(command->environment.empty());
  EXPECT_TRUE(with_value({"{b-s}"}, "b-s", "16", "make")->prepare_environment.empty());
}

TEST(Varied, AValueIsOneFolderWhateverIsInIt) {
  EXPECT_EQ(folder_named("batch=8"), "batch=8");
  const std::string above = folder_named("p=../../x");
  EXPECT_TRUE(above.starts_with("p=.._.._x-")) << above;
  EXPECT_EQ(above.find('/'), std::string::npos);
  EXPECT_NE(above, folder_named("p=.._../x"));
  const std::string many(1000, 'a');
  EXPECT_LT(folder_named(many + "b").size(), 200U);
  EXPECT_NE(folder_named(many + "b"), folder_named(many + "c"));
}

}  // namespace
}  // namespace fathom::measure
