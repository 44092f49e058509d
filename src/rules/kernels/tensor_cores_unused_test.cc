#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule tensor_cores_unused();

namespace {

JudgedTrace product(std::string_view kernel, std::string_view types, const Device& device) {
  ProgramBuilder program(10'000);
  program.trace().device(device);
  program.op("aten::mm", kernel, 8000).shapes("[[64,64],[64,64]]").types(types);
  return JudgedTrace(program.trace());
}

constexpr std::string_view kFloats = "[\"float\",\"float\"]";
constexpr std::string_view kHalves = "[\"c10::Half\",\"c10::Half\"]";

TEST(TensorCoresUnused, IsToldOf32BitProducts) {
  const auto findings =
      product("ampere_sgemm_128x64_tn", kFloats, a100()).findings(tensor_cores_unused());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "fp32");
  EXPECT_NE(findings[0].fix.after.find("set_float32_matmul_precision"), std::string::npos);
  EXPECT_GT(total(findings[0].claims), duration_ns(5000));
  EXPECT_LT(total(findings[0].claims), duration_ns(8000));
}

TEST(TensorCoresUnused, IsToldOf16BitProductsThatMissThem) {
  const auto findings =
      product("ampere_hgemm_64x64_nn", kHalves, a100()).findings(tensor_cores_unused());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "half");
}

TEST(TensorCoresUnused, IsNothingForTensorCoreKernels) {
  EXPECT_TRUE(product("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_tn", kHalves, a100())
                  .findings(tensor_cores_unused())
                  .empty());
}

TEST(TensorCoresUnused, IsNothingForDevicesWithoutAny) {
  Device pascal = a100();
  pascal.compute_major = 6;
  const JudgedTrace trace = product("sgemm", kFloats, pascal);
  EXPECT_TRUE(trace.findings(tensor_cores_unused()).empty());
}

TEST(TensorCoresUnused, AbstainsWithoutDeviceProperties) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "sgemm", 4000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(tensor_cores_unused()), "");
}

TEST(TensorCoresUnused, KnowsTheGenerationFromNamesOfKernelsWithoutDeviceProperties) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "volta_sgemm_128x64_nn", 8000);
  const auto findings = JudgedTrace(program.trace()).findings(tensor_cores_unused());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "fp32");
  EXPECT_EQ(findings[0].fix.after.find("set_float32_matmul_precision"), std::string::npos);
}

TEST(TensorCoresUnused, TakesATypeThatTheNameOfAKernelShowsNotItsSgemm) {
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("CompiledFxGraph", "void precomputed_convolve_sgemm<__nv_bfloat16, 512>(int)", 8000);
  const auto findings = JudgedTrace(program.trace()).findings(tensor_cores_unused());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "half");
}

TEST(TensorCoresUnused, IsNothingOfUnknownTypes) {
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("CompiledFxGraph", "triton_red_fused_scaled_2_bias_matmul_1", 4000);
  program.op("CompiledFxGraph", "void cublasLt::splitKreduce_kernel<32, 16, float>(float*)", 4000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(tensor_cores_unused()).empty());
}

TEST(TensorCoresUnused, IsNothingOfAProgramsOwnKernels) {
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("my_ops::product", "my_gemm<float>", 8000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(tensor_cores_unused()).empty());
}

TEST(TensorCoresUnused, AdviseNoOtherTypeToAModelOfFewBits) {
  ProgramBuilder program(20'000);
  program.trace().device(a100());
  program.op("aten::mm", "ampere_sgemm_128x64_tn", 4000).shapes("[[64,64],[64,64]]").types(kFloats);
  program.op("aten::mm", "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", 8000)
      .shapes("[[64,64],[64,64]]")
      .types("[\"c10::BFloat16\",\"c10::BFloat16\"]");
  const auto findings = JudgedTrace(program.trace()).findings(tensor_cores_unused());
  ASSERT_EQ(findings.size(), 1U);
  const std::string all = findings[0].fix.text + findings[0].fix.after;
  for (const std::string_view word : {"TF32", "autocast", "set_float32_matmul_precision"})
    EXPECT_EQ(all.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace fathom
