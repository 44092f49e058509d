#include "analysis/roofline/kernel_type.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(KernelType, IsWhatTemplateArgumentsSay) {
  EXPECT_EQ(type_of_kernel("void precomputed_convolve_sgemm<__nv_bfloat16, 512, 6, 8>(int)"),
            NumberType::bf16);
  EXPECT_EQ(type_of_kernel("void implicit_convolve_sgemm<float, float, 1024>(int)"),
            NumberType::fp32);
  EXPECT_EQ(type_of_kernel("void gemv2T_kernel_val<int, int, __half, __half, float>(int)"),
            NumberType::fp16);
}

TEST(KernelType, IsWhatTheLettersOfLibrariesSay) {
  EXPECT_EQ(type_of_kernel("volta_sgemm_128x32_nt"), NumberType::fp32);
  EXPECT_EQ(type_of_kernel("volta_dgemm_64x64_nn"), NumberType::fp64);
  EXPECT_EQ(type_of_kernel("volta_scudnn_128x128_relu_interior_nn_v1"), NumberType::fp32);
  EXPECT_EQ(type_of_kernel("sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n"), NumberType::fp8);
}

TEST(KernelType, IsUnknownWhereTheNameShowsNone) {
  EXPECT_EQ(type_of_kernel("triton_mm"), NumberType::unknown);
  EXPECT_EQ(type_of_kernel("triton_tem_fused__int_mm_3"), NumberType::unknown);
  EXPECT_EQ(type_of_kernel(""), NumberType::unknown);
}

}  // namespace
}  // namespace fathom
