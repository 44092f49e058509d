#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule dequantised_weights();

namespace {

constexpr std::string_view kBytes = R"(["float","signed char"])";

/// Two steps on a processor: 8-bit integers of a shape are converted and scaled, and a matrix
/// multiplication takes floats of the shape [256,512] as its weight.
TraceBuilder steps(std::string_view shape, std::string_view types = kBytes, bool second = true) {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = 100'000 * step;
    const std::string_view both = shape;
    builder.step(step, at, 100'000);
    if (step == 0 || second) {
      builder.op("aten::to", at + 1000, 50'000);
      builder.op("aten::copy_", at + 2000, 48'000).shapes(both).types(types);
      builder.op("aten::mul", at + 52'000, 20'000).shapes(both).types(R"(["float","float"])");
    }
    builder.op("aten::linear", at + 80'000, 10'000)
        .shapes("[[32,512],[256,512],[]]")
        .types(R"(["float","float",""])");
  }
  return builder;
}

TEST(DequantisedWeights, AreToldWithTheirScales) {
  TraceBuilder builder = steps("[[256,512],[256,512]]");
  const auto findings = JudgedTrace(builder).findings(dequantised_weights());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title,
            "8-bit weights are converted to floats in each step: 70.00 µs (70.0 % of the step)");
  EXPECT_EQ(findings[0].evidence[0].text,
            "1 conversion per step, the same in all, of 1 shape that matrix multiplications or "
            "convolutions take as weights");
  EXPECT_EQ(total(findings[0].claims), duration_ns(140'000));
  EXPECT_NE(findings[0].fix.text.find("quantize_dynamic"), std::string::npos);
}

TEST(DequantisedWeights, MayBeTransposed) {
  TraceBuilder builder = steps("[[512,256],[512,256]]");
  EXPECT_EQ(JudgedTrace(builder).findings(dequantised_weights()).size(), 1U);
}

TEST(DequantisedWeights, AreNoImages) {
  TraceBuilder builder = steps("[[32,3,64,64],[32,3,64,64]]", R"(["float","unsigned char"])");
  EXPECT_TRUE(JudgedTrace(builder).findings(dequantised_weights()).empty());
}

TEST(DequantisedWeights, AreOfEightBits) {
  TraceBuilder builder = steps("[[256,512],[256,512]]", R"(["float","c10::BFloat16"])");
  EXPECT_TRUE(JudgedTrace(builder).findings(dequantised_weights()).empty());
}

TEST(DequantisedWeights, ComeInEachStep) {
  TraceBuilder builder = steps("[[256,512],[256,512]]", kBytes, false);
  EXPECT_TRUE(JudgedTrace(builder).findings(dequantised_weights()).empty());
}

TEST(DequantisedWeights, OnADeviceAreTheirKernels) {
  TraceBuilder builder;
  builder.step(0, 0, 10'000);
  builder.op("aten::to", 100, 300);
  builder.op("aten::copy_", 110, 200).shapes("[[256,512],[256,512]]").types(kBytes);
  builder.runtime("cudaLaunchKernel", 150, 10, 1);
  builder.kernel("copy", 500, 6000, 1);
  builder.op("aten::linear", 600, 100)
      .shapes("[[32,512],[256,512],[]]")
      .types(R"(["float","float",""])");
  builder.runtime("cudaLaunchKernel", 620, 10, 2);
  builder.kernel("gemm", 6600, 1000, 2);
  const auto findings = JudgedTrace(builder).findings(dequantised_weights());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(6000));
  EXPECT_NE(findings[0].fix.text.find("torchao"), std::string::npos);
}

TEST(DequantisedWeights, AbstainWithoutShapes) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::to", 100, 300);
  EXPECT_NE(JudgedTrace(builder).abstains(dequantised_weights()), "");
}

}  // namespace
}  // namespace fathom
