#include <string>

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

TEST(ShapeAlignment, IsNothingForDoubles) {
  EXPECT_EQ(findings_of_kernel("cutlass_80_tensorop_d884gemm_64x64_16x4_tn_align1"), 0U);
  EXPECT_EQ(findings_of_kernel("cutlass_80_tensorop_z884gemm_32x32_16x3_nn_align1"), 0U);
}

TEST(ShapeAlignment, IsNothingForRowsOfAnyNumber) {
  EXPECT_TRUE(product("[[256],[50,256],[256,256]]", kHalves).findings(shape_alignment()).empty());
}

TEST(ShapeAlignment, IsNothingWhereTheKernelSaysThatItLoads16Bytes) {
  for (const std::string_view kernel :
       {"cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_128x1_tn_align8",
        "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn"}) {
    ProgramBuilder program(10'000);
    program.op("aten::addmm", kernel, 8000).shapes("[[250],[64,250],[250,250]]").types(kHalves);
    EXPECT_TRUE(JudgedTrace(program.trace()).findings(shape_alignment()).empty()) << kernel;
  }
}

TEST(ShapeAlignment, BelievesTheRecordedStrides) {
  ProgramBuilder program(10'000);
  // The gradient of weights: both operands are dense in their columns once transposed.
  program.op("aten::mm", "gemm", 8000)
      .shapes("[[256,50],[50,512]]")
      .strides("[[1,256],[512,1]]")
      .types("[\"c10::Half\",\"c10::Half\"]");
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(shape_alignment()).empty());
}

std::string fix_after(std::string_view shapes, bool embeds) {
  ProgramBuilder program(20'000);
  if (embeds) program.op("aten::embedding", "indexSelect", 100);
  program.op("aten::addmm", "gemm", 8000).shapes(shapes).types(kHalves);
  return JudgedTrace(program.trace()).findings(shape_alignment()).at(0).fix.after;
}

TEST(ShapeAlignment, SpeaksOfAVocabularyOnlyWhereThereIsOne) {
  EXPECT_EQ(fix_after("[[50257],[64,256],[256,50257]]", true), "vocab_size = 50304");
  EXPECT_EQ(fix_after("[[50257],[64,256],[256,50257]]", false), "n = 50264");
  EXPECT_EQ(fix_after("[[250],[64,256],[256,250]]", true), "n = 256");
}

TEST(ShapeAlignment, AbstainsWithoutShapes) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "gemm", 4000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(shape_alignment()), "");
}

}  // namespace
}  // namespace fathom
