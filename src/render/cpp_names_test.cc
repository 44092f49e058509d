#include "render/cpp_names.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(CppNames, AreToldFromOtherNames) {
  EXPECT_TRUE(is_cpp_function("void f<int>(int)"));
  EXPECT_TRUE(
      is_cpp_function("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
  for (const char* other :
       {"aten::mm", "(no operator)", "Memcpy HtoD (Pageable -> Device)", "train.py(44): <module>",
        "autograd::engine::evaluate_function: MmBackward0", "triton_poi_fused_add_7",
        "aten::mm ×12, aten::addmm ×3", ""}) {
    EXPECT_FALSE(is_cpp_function(other)) << other;
  }
}

TEST(CppNames, LoseReturnTypeArgumentsAndUnnamedNamespaces) {
  EXPECT_EQ(without_signature(
                "void (anonymous namespace)::all_reduce<c10::Half, 16>(c10::Half*, unsigned long)"),
            "all_reduce<c10::Half, 16>");
  EXPECT_EQ(without_signature(
                "std::enable_if<(((8)>(0)))&&t<x>::y, void>::type vllm::norm<8>(int) const"),
            "vllm::norm<8>");
}

TEST(CppNames, LoseNamespacesAndWhatStandsInsideFunctions) {
  EXPECT_EQ(
      compact_cpp_name("void at::native::elementwise_kernel<128, 4, "
                       "at::native::gpu_kernel_impl<at::native::copy_kernel(at::TensorIteratorBase&"
                       ")::{lambda()#3}::operator()() "
                       "const::{lambda(float)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)"),
      "elementwise_kernel<128, 4, gpu_kernel_impl<copy_kernel>>");
  EXPECT_EQ(compact_cpp_name("void f<(ns::Type)2, unsigned long, std::array<char*, 3ul> >(int)"),
            "f<2, unsigned long, array<char*, 3ul>>");
}

TEST(CppNames, ThatMakeNoSenseAreLeftAlone) {
  EXPECT_EQ(compact_cpp_name("void f<a(>"), "void f<a(>");
  EXPECT_EQ(compact_cpp_name("void f<a>>"), "void f<a>>");
  const std::string deep = "void " + std::string(100'000, '<');
  EXPECT_EQ(compact_cpp_name(deep), deep);
}

}  // namespace
}  // namespace fathom
