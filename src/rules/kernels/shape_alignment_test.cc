#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule shape_alignment();

namespace {

JudgedTrace product(std::string_view shapes, std::string_view types) {
  ProgramBuilder program(10'000);
  program.op("aten::addmm", "gemm", 8000).shapes(shapes).types(types);
  return JudgedTrace(program.trace());
}
constexpr std::string_view kHalves = "[\"c10::Half\",\"c10::Half\",\"c10::Half\"]";

TEST(ShapeAlignment, IsToldOfSizesThatAreNoMultipleOfEight) {
  const auto findings = product("[[250],[64,250],[250,250]]", kHalves).findings(shape_alignment());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].evidence[0].text.find("250"), std::string::npos);
}

TEST(ShapeAlignment, IsNothingForFittingSizesAndVectors) {
  EXPECT_TRUE(product("[[256],[64,256],[256,256]]", kHalves).findings(shape_alignment()).empty());
  EXPECT_TRUE(product("[[256],[1,256],[256,256]]", kHalves).findings(shape_alignment()).empty());
}

TEST(ShapeAlignment, IsNothingFor32BitFloats) {
  EXPECT_TRUE(product("[[250],[64,250],[250,250]]", "[\"float\",\"float\",\"float\"]")
                  .findings(shape_alignment())
                  .empty());
}

std::size_t findings_of_kernel(std::string_view kernel) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", kernel, 4000);
  return JudgedTrace(program.trace()).findings(shape_alignment()).size();
}

TEST(ShapeAlignment, IsToldByKernelsThatLoadLessThan16BytesAtATime) {
  EXPECT_EQ(findings_of_kernel("cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1"), 1U);
  EXPECT_EQ(
      findings_of_kernel("cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_128x1_tn_align4"), 1U);
}

TEST(ShapeAlignment, IsNothingForKernelsThatLoad16BytesOrUseNoTensorCores) {
  EXPECT_EQ(findings_of_kernel("cutlass_80_tensorop_s1688gemm_128x64_16x6_tn_align4"), 0U);
  EXPECT_EQ(
      findings_of_kernel("cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_128x1_tn_align8"), 0U);
  EXPECT_EQ(findings_of_kernel("cutlass_80_simt_sgemm_128x64_8x5_nt_align1"), 0U);
}

TEST(ShapeAlignment, AbstainsWithoutShapes) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "gemm", 4000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(shape_alignment()), "");
}

}  // namespace
}  // namespace fathom
