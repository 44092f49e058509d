#include "render/name_text.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::string_view kElementwise =
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, "
    "1>)";

TEST(ShortenName, LeavesWhatFits) {
  EXPECT_EQ(shorten_name(kElementwise, 200), kElementwise);
  EXPECT_EQ(shorten_name("aten::mm", 8), "aten::mm");
}

TEST(ShortenName, DropsReturnTypeAndArgumentsFirst) {
  EXPECT_EQ(shorten_name(kElementwise, 110),
            "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
            "at::detail::Array<char*, 1> >");
  EXPECT_EQ(shorten_name("void f(int, char*) const", 5), "f");
}

TEST(ShortenName, DropsNamespacesBeforeItCuts) {
  EXPECT_EQ(shorten_name(kElementwise, 75),
            "vectorized_elementwise_kernel<4, FillFunctor<float>, Array<char*, 1> >");
  EXPECT_EQ(shorten_name(kElementwise, 40), "vectorized_elementwi…, Array<char*, 1> >");
}

TEST(ShortenName, FindsTheFunctionBehindAnAnonymousNamespace) {
  EXPECT_EQ(
      shorten_name("void (anonymous namespace)::all_reduce<float>(float*, unsigned long)", 30),
      "all_reduce<float>");
}

TEST(ShortenName, CutsOtherTextsInTheMiddle) {
  EXPECT_EQ(shorten_name("torch/nn/modules/module.py(1951): __getattr__", 21),
            "torch/nn/m…_getattr__");
  EXPECT_EQ(shorten_name("ampere_sgemm_128x64_tn_with_a_long_tail", 11), "amper…_tail");
}

}  // namespace
}  // namespace fathom
