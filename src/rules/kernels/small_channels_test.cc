#include <string>

#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule small_channels();

namespace {

constexpr DeviceSpec kDevice{.name = "round numbers",
                             .fp32 = 1e12,
                             .fp32_matrix = 1e12,
                             .bandwidth = 1e9,
                             .pcie_bandwidth = 1e9};

/// A step of 1 ms with one convolution of 16 x 16 pixels with filters of one.
JudgedTrace convolution(int in, int out, std::int64_t duration) {
  ProgramBuilder program(1'000'000);
  const std::string shapes = "[[1," + std::to_string(in) + ",16,16],[" + std::to_string(out) + "," +
                             std::to_string(in) + ",1,1],[],[],[],[],[],[],[]]";
  program.op("aten::convolution", "conv_kernel", duration)
      .shapes(shapes)
      .types(
          R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])")
      .concrete(R"(["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1"])");
  return JudgedTrace(program.trace(), &kDevice);
}

TEST(SmallChannels, AreToldWhereTheyTakeLongAndAreFarFromTheirRoof) {
  const std::vector<Finding> findings = convolution(3, 64, 600'000).findings(small_channels());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("600.0 µs"), std::string::npos) << findings[0].title;
  EXPECT_NE(findings[0].evidence[0].text.find("3 in (per group) and 64 out"), std::string::npos);
  EXPECT_TRUE(findings[0].claims.empty());
}

TEST(SmallChannels, AreNothingWithManyChannelsLittleTimeOrNearTheRoof) {
  EXPECT_TRUE(convolution(64, 64, 600'000).findings(small_channels()).empty());
  EXPECT_TRUE(convolution(3, 64, 20'000).findings(small_channels()).empty());
  // 69,376 bytes at 1 GB/s.
  EXPECT_TRUE(convolution(3, 64, 80'000).findings(small_channels()).empty());
}

TEST(SmallChannels, AbstainWithoutShapesOrADevice) {
  ProgramBuilder bare(1'000'000);
  bare.op("aten::convolution", "conv_kernel", 600'000);
  EXPECT_NE(JudgedTrace(bare.trace(), &kDevice).abstains(small_channels()), "");
  TraceBuilder host;
  host.op("aten::convolution", 0, 90);
  EXPECT_NE(JudgedTrace(host).abstains(small_channels()), "");
}

}  // namespace
}  // namespace fathom
