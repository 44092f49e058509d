#include "compare/machine_conditions.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(MachineConditions, EachPowerLimitOnce) {
  EXPECT_EQ(power_limits(R"([{"power_limit_w": 300}, {"power_limit_w": 250.5}, {"name": "A"},)"
                         R"({"power_limit_w": 300}])"),
            "250.5 W, 300 W");
  EXPECT_EQ(power_limits("[]"), "");
  EXPECT_EQ(power_limits(R"([1, null, {"power_limit_w": "much"}])"), "");
}

TEST(MachineConditions, OnlyAHighLoadIsANumber) {
  EXPECT_EQ(load_condition("[1.01, 9, 9]", "2"), "1.01 on 2 cores");
  EXPECT_EQ(load_condition("[2]", "1"), "2 on 1 core");
  EXPECT_EQ(load_condition("[1, 9, 9]", "2"), "at most half of the cores");
  EXPECT_EQ(load_condition("[0.2, 9, 9]", "2"), load_condition("[0.7, 9, 9]", "2"));
}

TEST(MachineConditions, WhatIsNotKnownIsEmpty) {
  for (const auto* const load : {"", "[]", "[", "5", "[null]", R"(["5"])"})
    EXPECT_EQ(load_condition(load, "2"), "") << load;
  for (const auto* const cores : {"", "0", "-1", "null", "two"})
    EXPECT_EQ(load_condition("[5]", cores), "") << cores;
  EXPECT_EQ(power_limits(""), "");
  EXPECT_EQ(power_limits("{"), "");
}

}  // namespace
}  // namespace fathom
