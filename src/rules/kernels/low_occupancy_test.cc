#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule low_occupancy();

namespace {

constexpr DeviceSpec kDevice{.name = "round numbers",
                             .fp32 = 1e12,
                             .fp32_matrix = 1e12,
                             .bandwidth = 1e9,
                             .pcie_bandwidth = 1e9};

struct Launch {
  std::int32_t registers = 128;  ///< 128 of 65,536: 512 threads of 2048 fit.
  std::int32_t grid = 1000;
  std::int64_t duration = 600'000;
  std::string_view kernel = "my_kernel";
  bool shapes = true;
};

/// A step of 1 ms with one addition that needs 120 µs of memory's time.
JudgedTrace judged(const Launch& launch) {
  ProgramBuilder program(1'000'000);
  program.trace().device(a100());
  TraceBuilder::Event op = program.op("aten::add", launch.kernel, launch.duration);
  if (launch.shapes) op.shapes("[[10000],[10000],[]]").types(R"(["float","float","Scalar"])");
  LaunchConfig config;
  config.grid = {launch.grid, 1, 1};
  config.block = {256, 1, 1};
  config.registers = launch.registers;
  config.shared_memory = 0;
  program.kernel().config(config);
  return JudgedTrace(program.trace(), &kDevice);
}

TEST(LowOccupancy, IsToldWithItsLimiter) {
  const std::vector<Finding> findings = judged({}).findings(low_occupancy());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title.find("Only 25.0 % of the warps fit, limited by registers"), 0U)
      << findings[0].title;
  EXPECT_EQ(findings[0].weight, Weight::warning);
  EXPECT_TRUE(findings[0].claims.empty());
}

TEST(LowOccupancy, IsNothingWhereItDoesNotMatter) {
  EXPECT_TRUE(judged({.registers = 32}).findings(low_occupancy()).empty()) << "many warps";
  EXPECT_TRUE(judged({.grid = 20}).findings(low_occupancy()).empty()) << "a small grid";
  EXPECT_TRUE(judged({.duration = 30'000}).findings(low_occupancy()).empty()) << "short";
  EXPECT_TRUE(judged({.duration = 150'000}).findings(low_occupancy()).empty()) << "at its roof";
  EXPECT_TRUE(judged({.kernel = "ampere_sgemm_128x64_tn"}).findings(low_occupancy()).empty())
      << "built for few warps";
}

TEST(LowOccupancy, AbstainsWithoutLaunchesShapesOrADevice) {
  EXPECT_NE(judged({.registers = -1}).abstains(low_occupancy()), "");
  EXPECT_NE(judged({.shapes = false}).abstains(low_occupancy()), "");
  ProgramBuilder unknown(1000);
  unknown.op("aten::add", "k", 500);
  EXPECT_NE(JudgedTrace(unknown.trace()).abstains(low_occupancy()), "");
}

}  // namespace
}  // namespace fathom
