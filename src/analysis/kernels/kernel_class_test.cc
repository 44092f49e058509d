// Names as recorded in real traces (PyTorch 1.8 to 2.8, CUDA and ROCm, vLLM, SGLang, FBGEMM), cut
// after their telling part, and names from the public sources of communication libraries.
#include "analysis/kernels/kernel_class.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

struct Case {
  std::string_view name;
  KernelClass kernel_class;
  bool tensor_cores = false;
};

void expect_all(std::initializer_list<Case> cases) {
  for (const Case& expected : cases) {
    const KernelTraits traits = classify_kernel(expected.name);
    EXPECT_EQ(to_string(traits.kernel_class), to_string(expected.kernel_class)) << expected.name;
    EXPECT_EQ(traits.tensor_cores, expected.tensor_cores) << expected.name;
  }
}

using enum KernelClass;

TEST(KernelClass, KnowsCommunicationOfEveryLibrary) {
  expect_all({
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
       communication},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
       communication},
      {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", communication},
      {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", communication},
      {"ncclSymkDevKernel_AllReduce_AGxLLMC_R_sum_bf16", communication},
      {"void ncclAllReduceRingLLKernel_sum_f32(ncclColl)", communication},
      {"rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)", communication},
      {"mscclKernel_Sum_half_Simple(ncclDevComm*, mscclAlgo*, mscclWork*)", communication},
      {"void mscclpp::collective::allreducePacket<mscclpp::LL8Packet>", communication},
      {"void vllm::cross_device_reduce_1stage<nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)",
       communication},
      {"void sglang::cross_device_reduce_2stage<__half, 4>(sglang::RankData*)", communication},
      {"void aiter::cross_device_reduce_1stage<__hip_bfloat16, 8>(aiter::RankData*)",
       communication},
      {"void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<nv_bfloat16>>",
       communication},
      {"void "
       "tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_oneshot_lamport<(ArFusion)1>",
       communication},
      {"void tensorrt_llm::kernels::twoShotAllReduceKernel<__nv_bfloat16, 8>", communication},
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
       communication},
      {"void c10d::symmetric_memory::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 8>",
       communication},
      {"void nvshmemi_transfer_rma_put_nbi<(threadgroup_t)1>", communication},
      {"void deep_ep::internode::dispatch<false, 4, 7>(int4*, float*)", communication},
      {"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>", communication},
  });
}

TEST(KernelClass, DoesNotTakeWorkOnCommunicatedTensorsForCommunication) {
  expect_all({
      {"triton_poi_fused_all_gather_into_tensor_wait_tensor_add_3", elementwise},
      {"void at::native::_scatter_gather_elementwise_kernel<128, 4, "
       "at::native::_cuda_scatter_gather",
       embedding},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<",
       reduction},
  });
}

TEST(KernelClass, TellsProductsOnMatrixUnitsFromThoseWithout) {
  expect_all({
      {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_relu_f2f_stages_32x5_tn", gemm, true},
      {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", gemm, true},
      {"turing_h1688gemm_128x128_ldg8_stages_32x1_nn", gemm, true},
      {"turing_int8_i8816cudnn_int8_256x128_ldg16_relu_medium_nt_v1", conv, true},
      {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_16x6_tn_align4>(", gemm, true},
      {"void cutlass::Kernel<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_64x2_tn_align8>(",
       gemm, true},
      {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_warpsize2x2x1_tensor16x8x16_"
       "kernel",
       gemm, true},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_"
       "segment_k_off",
       gemm, true},
      {"nvjet_tst_192x8_64x8_4x1_v_bz_TNT", gemm, true},
      {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, "
       "int, int>, "
       "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<"
       "4",
       gemm, true},
      {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_schedP_sm100f",
       gemm, true},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", gemm, true},
      {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1", gemm, true},
      {"triton_tem_fused_addmm_relu_7", gemm, true},

      {"ampere_sgemm_128x64_nn", gemm},
      {"volta_sgemm_128x32_sliced1x4_tn", gemm},
      {"ampere_gcgemm_64x64_nt", gemm},
      {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x128_8x4_nn_align1>(", gemm},
      {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_"
       "alignc4",
       gemm},
      {"Cijk_Ailk_Bljk_SB_MT64x64x16_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM1", gemm},
      {"std::enable_if<true, void>::type internal::gemvx::kernel<int, int, __half, __half, __half, "
       "float",
       gemm},
      {"void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 2, 2, false, false, "
       "cublas",
       gemm},
      {"void splitKreduce_kernel<32, 16, int, float, float, float, float, true, false, false>(",
       gemm},
  });
}

TEST(KernelClass, ReadsMangledNamesOfCutlass) {
  expect_all({
      {"_ZN7cutlass6KernelINS_4gemm6kernel4GemmINS1_11threadblock12MmaPipelinedINS1_"
       "9GemmShapeILi128E"
       "Li128ELi32EEENS1_4warp11MmaTensorOpINS6_ILi64ELi64ELi32EEENS_6half_tE",
       gemm, true},
      {"_ZN7cutlass6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock21ImplicitGemm"
       "MultistageINS_4gemm4warp11MmaTensorOpINS6_9GemmShapeILi64ELi64ELi32EEE",
       conv, true},
      {"_ZN7cutlass6KernelINS_4gemm6kernel4GemmINS1_11threadblock12MmaPipelinedINS1_"
       "9GemmShapeILi128E"
       "Li128ELi8EEENS1_4warp7MmaSimtINS6_ILi32ELi64ELi8EEEfNS_6layout8RowMajorE",
       gemm},
  });
}

TEST(KernelClass, KnowsTransposesOfLibrariesAndFftOfOneDimension) {
  expect_all({
      {"void transpose_readWrite_alignment_kernel<float2, float2, 1, false, 6, 4, 4>("
       "cublasTransposeParams<float2>, float2 const*, float2*, float2 const*)",
       copy_like},
      {"void cublasLt::transpose_kernel<__half>(cublasTransposeParams<__half>)", copy_like},
      {"transpose_NCHW2CNHW_V1_2D_WG16x16", copy_like},
      {"transpose_CNHW2NCHW_opt", copy_like},
      {"transpose_packed_MN2NM", copy_like},
      {"my_transpose<float>(float const*, float*)", copy_like},
      {"void fft1d_r2c_32<float, float, float2, true, false>(float2*, float const*, int, int3)",
       conv},
      {"void fft1d_c2r_256<float2, float, float, false, true, false, false>(float*, float2 const*)",
       conv},
      // What does more than to transpose keeps the class of that.
      {"softmax_transpose_kernel_fused", softmax},
      {"conv_transpose2d_grouped<float>", conv},
  });
}

TEST(KernelClass, KnowsProductsOfMtia) { expect_all({{"fc-dtype-fp16-m-512-n-256", gemm}}); }

TEST(KernelClass, KnowsConvolutions) {
  expect_all({
      {"cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", conv},
      {"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", conv},
      {"void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, false, true, true>(",
       conv},
      {"void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(", conv},
      {"cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)", conv},
      {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_"
       "stage4_"
       "warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn",
       conv, true},
      {"void "
       "cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4",
       conv, true},
      {"igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2", conv, true},
  });
}

TEST(KernelClass, KnowsAttentionAndItsHelpers) {
  expect_all({
      {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, "
       "4",
       attention, true},
      {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, "
       "cutlass",
       attention, true},
      {"fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::AttentionKernel<float, "
       "cutlass",
       attention},
      {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
       attention, true},
      {"void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16, __hip_bfloat16, "
       "(vllm::Fp8KVCacheDataType)0",
       attention, true},
      {"void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256, 1",
       attention},
      {"void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<(int)128, (int)64",
       attention},
      {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char, "
       "(vllm::Fp8KVCacheDataType)1>",
       copy_like},
      {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*",
       elementwise},
  });
}

TEST(KernelClass, KnowsTheOtherClasses) {
  expect_all({
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int",
       normalisation},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, "
       "true>(cudnnTensorStruct",
       normalisation},
      {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_",
       normalisation},
      {"triton_red_fused_add_mean_mul_pow_rsqrt_2", normalisation},
      {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 9, false, "
       "false>(float*",
       softmax},
      {"void at::native::vectorized_elementwise_kernel<4, "
       "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&",
       elementwise},
      {"triton_poi_fused__unsafe_view_mul_silu_4", elementwise},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
       "at::native::NormTwoOps<float",
       reduction},
      {"triton_per_fused_native_dropout_backward_sum_view_5", reduction},
      {"void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, "
       "2, 2, -2",
       embedding},
      {"void "
       "split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_warp_per_row_1<float",
       embedding},
      {"void fbgemm_gpu::permute_2D_data_kernel<true, int, int, float>(int, int, int", embedding},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
       "namespace)::FusedOptimizerTensorListMetadata<4>, FusedAdamMathFunctor<float, 4, "
       "(ADAM_MODE)1",
       optimizer},
      {"void "
       "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
       "TensorIteratorBase",
       copy_like},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3, 128, "
       "1>(",
       copy_like},
      {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, "
       "(cudnnKernelDataType_t)0>",
       copy_like},
      {"triton_poi_fused__to_copy_1", copy_like},
      {"void fbgemm_gpu::_offsets_range_cuda_kernel<int>(long, long, int const*, int*)", other},
      {"at::cuda::(anonymous namespace)::spin_kernel(long)", other},
      {"void cub::DeviceScanKernel<cub::DeviceScanPolicy<int>::Policy600, int*, int*, "
       "cub::ScanTileState",
       other},
  });
}

TEST(KernelClass, TakesNoWordForATensorCoreOutsideProducts) {
  expect_all({{"SubTensorOpWithScalar1d", elementwise},
              {"SubTensorOpWithCastTensor1d", copy_like},
              {"", other}});
}

TEST(KernelClass, KnowsCommunicationThatIsNotNccl) {
  for (const std::string_view name :
       {"void deep_ep::intranode::dispatch<8, 768, 4096>(int4*)",
        "void internode_ll::combine<7168, 9>(void*)",
        "void intranode::notify_dispatch<8>(int const*)", "mscclpp::allreduce1",
        "void sglang::cross_device_reduce_1stage<__nv_bfloat16, 8>(sglang::RankData*)",
        "nvshmemi_transfer_rma", "mori::EpDispatchIntraNodeKernel<float>", "_EpCombineInterNode",
        "tensorrt_llm::kernels::moeCommKernel", "hcclAllToAll"}) {
    EXPECT_EQ(classify_kernel(name).kernel_class, KernelClass::communication) << name;
  }
}

}  // namespace
}  // namespace fathom
