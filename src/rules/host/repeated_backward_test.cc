#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule repeated_backward();

namespace {

/// Two steps of 10 us, each with a product of 1 us and its node, which runs `runs` times for 2 us.
TraceBuilder steps_with(int runs, std::string_view node = "MmBackward0") {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = 10'000 * step;
    builder.step(step, at, 10'000);
    builder.op("aten::mm", at, 1'000).sequence(1 + step);
    for (int run = 0; run < runs; ++run) {
      const std::int64_t begin = at + 1'500 + 2'100 * run;
      builder.op("autograd::engine::evaluate_function: " + std::string(node), begin, 2'000)
          .sequence(1 + step, 1);
      builder.op("aten::mm", begin + 500, 1'000);
    }
  }
  return builder;
}

TEST(RepeatedBackward, ClaimsWhatRunsAgain) {
  TraceBuilder builder = steps_with(3);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(repeated_backward());
  ASSERT_EQ(findings.size(), 1U);
  // Two of three runs, in each of two steps.
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 8'000, 10);
  EXPECT_NE(findings[0].title.find(" 3 times"), std::string::npos) << findings[0].title;
}

TEST(RepeatedBackward, IsNothingWhereEachNodeRunsOnce) {
  TraceBuilder builder = steps_with(1);
  EXPECT_TRUE(JudgedTrace(builder).findings(repeated_backward()).empty());
}

TEST(RepeatedBackward, RanksHaveTheSameNumbersAndEachItsOwnNodes) {
  TraceBuilder builder;
  for (const std::int64_t pid : {1, 2}) {
    builder.on_thread(pid, pid).step(0, 0, 10'000);
    builder.op("aten::mm", 0, 1'000).sequence(1);
    builder.op("autograd::engine::evaluate_function: MmBackward0", 1'500, 4'000).sequence(1, 1);
    builder.op("aten::mm", 2'000, 3'000);
  }
  EXPECT_TRUE(JudgedTrace(builder).findings(repeated_backward()).empty());
}

TEST(RepeatedBackward, IsNothingWithSecondDerivatives) {
  TraceBuilder builder = steps_with(3, "TanhBackwardBackward0");
  EXPECT_TRUE(JudgedTrace(builder).findings(repeated_backward()).empty());
}

TEST(RepeatedBackward, AbstainsWithoutABackwardPass) {
  TraceBuilder builder;
  builder.step(0, 0, 10'000);
  builder.op("aten::mm", 0, 5'000);
  EXPECT_NE(JudgedTrace(builder).abstains(repeated_backward()), "");
}

}  // namespace
}  // namespace fathom
