#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule model_cost();

namespace {

constexpr DeviceSpec kDevice{.name = "round numbers",
                             .fp32 = 1e12,
                             .fp32_matrix = 1e12,
                             .bandwidth = 1e9,
                             .pcie_bandwidth = 1e9};

/// A step of `window` ns with one product that needs 120 µs of memory's time.
ProgramBuilder product(std::int64_t window, std::int64_t duration) {
  ProgramBuilder program(window);
  program.op("aten::mm", "sgemm", duration)
      .shapes("[[100,100],[100,100]]")
      .types(R"(["float","float"])");
  return program;
}

TEST(ModelCost, IsToldWhereOneOperatorIsMostOfTheStepAndNearItsRoof) {
  ProgramBuilder program = product(200'000, 150'000);
  const std::vector<Finding> findings =
      JudgedTrace(program.trace(), &kDevice).findings(model_cost());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title.find("aten::mm takes 150.0 µs"), 0U) << findings[0].title;
  EXPECT_NE(findings[0].title.find("80.0 % of its roof"), std::string::npos) << findings[0].title;
  EXPECT_TRUE(findings[0].claims.empty());
  EXPECT_EQ(findings[0].family, Family::memory_bandwidth);
}

TEST(ModelCost, IsNothingFarFromTheRoofOrForHalfOfTheStep) {
  ProgramBuilder far = product(1'000'000, 900'000);
  EXPECT_TRUE(JudgedTrace(far.trace(), &kDevice).findings(model_cost()).empty());
  ProgramBuilder half = product(400'000, 150'000);
  const JudgedTrace judged(half.trace(), &kDevice);
  EXPECT_TRUE(judged.findings(model_cost()).empty());
  EXPECT_EQ(judged.abstains(model_cost()), "");
}

TEST(ModelCost, AbstainsWithoutShapesPeaksOrADevice) {
  ProgramBuilder bare(200'000);
  bare.op("aten::mm", "sgemm", 150'000);
  EXPECT_NE(JudgedTrace(bare.trace(), &kDevice).abstains(model_cost()), "");
  TraceBuilder host;
  host.step(1, 0, 100);
  host.op("aten::mm", 0, 90);
  EXPECT_NE(JudgedTrace(host).abstains(model_cost()), "");
}

}  // namespace
}  // namespace fathom
