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

TEST(TensorCoresUnused, IsNothingForProductsWithAVector) {
  for (const std::string_view kernel :
       {"void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false>",
        "void gemvNSP_kernel<float, float, float, float, 1, 32, 4, 1024>"}) {
    EXPECT_TRUE(product(kernel, kFloats, a100()).findings(tensor_cores_unused()).empty()) << kernel;
    EXPECT_TRUE(product(kernel, kHalves, a100()).findings(tensor_cores_unused()).empty()) << kernel;
  }
}

TEST(TensorCoresUnused, IsNothingForTensorCoreKernels) {
  EXPECT_TRUE(product("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_tn", kHalves, a100())
                  .findings(tensor_cores_unused())
                  .empty());
}

TEST(TensorCoresUnused, CountsProductsOfTheBackwardPassWhoseOperatorIsNotRecorded) {
  const auto found = [](std::string_view node) {
    ProgramBuilder program(10'000);
    program.trace().device(a100());
    program.op(node, "ampere_sgemm_128x64_nt", 8000);
    return JudgedTrace(program.trace()).findings(tensor_cores_unused()).size();
  };
  EXPECT_EQ(found("AddmmBackward0"), 1U);
  EXPECT_EQ(found("autograd::engine::evaluate_function: ConvolutionBackward0"), 1U);
  EXPECT_EQ(found("MyLinearBackward"), 0U) << "autocast does not reach it";
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

TEST(TensorCoresUnused, SaysThatTf32IsDisabledOnlyWhereNothingUsesIt) {
  const auto with = [](std::string_view other) {
    ProgramBuilder program(20'000);
    program.trace().device(a100());
    program.op("aten::mm", "ampere_sgemm_128x64_tn", 8000)
        .shapes("[[64,64],[64,64]]")
        .types(kFloats);
    program.op("aten::mm", other, 1000);
    return JudgedTrace(program.trace()).findings(tensor_cores_unused()).at(0);
  };
  const Finding off = with("add");
  EXPECT_TRUE(off.title.starts_with("TF32 disabled")) << off.title;
  EXPECT_NE(off.fix.text.find("Enable TF32"), std::string::npos) << off.fix.text;
  const Finding on = with("cutlass_80_tensorop_s1688gemm_tf32_128x128");
  EXPECT_TRUE(on.title.starts_with("32-bit matrix")) << on.title;
  EXPECT_NE(on.fix.text.find("TF32 is on"), std::string::npos) << on.fix.text;
}

TEST(TensorCoresUnused, NameTheGradientScalerForTrainingInFp16AndNoneForBf16) {
  ProgramBuilder inference(20'000);
  inference.op("aten::mm", "volta_sgemm_128x64_nn", 8000);
  const Fix pass = JudgedTrace(inference.trace()).findings(tensor_cores_unused()).at(0).fix;
  EXPECT_EQ(pass.after.find("GradScaler"), std::string::npos);
  ProgramBuilder volta(20'000);
  volta.op("aten::mm", "volta_sgemm_128x64_nn", 8000);
  volta.op("autograd::engine::evaluate_function: MmBackward0", "volta_sgemm_128x64_nn", 8000);
  const Fix training = JudgedTrace(volta.trace()).findings(tensor_cores_unused()).at(0).fix;
  EXPECT_NE(training.after.find("GradScaler"), std::string::npos);
  EXPECT_NE(training.text.find("NaN"), std::string::npos);
  const Fix ampere =
      product("ampere_sgemm_128x64_tn", kFloats, a100()).findings(tensor_cores_unused()).at(0).fix;
  EXPECT_NE(ampere.text.find("needs no gradient scaler"), std::string::npos);
  EXPECT_EQ(ampere.after.find("GradScaler"), std::string::npos);
}

TEST(TensorCoresUnused, PromisesWhatBf16GivesWhereTf32IsNoFasterThan32Bits) {
  // As of an RTX 3060: TF32 by tensor cores is as fast as 32 bits without.
  constexpr DeviceSpec kPeaks{.name = "no gain by TF32",
                              .fp32 = 1e12,
                              .tf32_matrix = 1e12,
                              .fp16_matrix = 2e12,
                              .bf16_matrix = 2e12,
                              .bandwidth = 1e12};
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("aten::mm", "ampere_sgemm_128x64_tn", 8000).shapes("[[64,64],[64,64]]").types(kFloats);
  const auto findings = JudgedTrace(program.trace(), &kPeaks).findings(tensor_cores_unused());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(4000));
  ASSERT_EQ(findings[0].edits.scale.size(), 1U);
  EXPECT_FLOAT_EQ(findings[0].edits.scale[0].second, 0.5F);
  EXPECT_NE(findings[0].fix.text.find("bf16"), std::string::npos) << findings[0].fix.text;
}

TEST(TensorCoresUnused, LeavesKernelsAloneThatTheProgramLaunchesItself) {
  const auto with = [](bool operators) {
    TraceBuilder builder;
    builder.device(a100());
    builder.step(1, 0, 1000);
    if (operators) builder.op("aten::zeros", 1, 3);
    builder.runtime("cudaLaunchKernel", 5, 5, 1);
    builder.kernel("matmul_k(float*, float*, float*, int)", 20, 900, 1);
    return JudgedTrace(builder).findings(tensor_cores_unused()).size();
  };
  EXPECT_EQ(with(true), 0U) << "autocast does not reach it";
  EXPECT_EQ(with(false), 1U) << "where operators were not recorded, that is not known";
}

}  // namespace
}  // namespace fathom
