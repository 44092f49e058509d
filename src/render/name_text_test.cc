#include "render/name_text.h"

#include <gtest/gtest.h>

#include "render/text_width.h"

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
            "vectorized_elementwise_kernel<4, FillFunctor<float>, Array<char*, 1>>");
  EXPECT_EQ(shorten_name(kElementwise, 40), "vectorized_elementwise_kernel<4, FillF…>");
  EXPECT_EQ(shorten_name(kElementwise, 21), "vectori…<4, FillFun…>");
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

TEST(ShortenNames, ShowsWhereNamesDiffer) {
  std::vector<std::string> names = {
      "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)",
      "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >(int)",
      "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<double> >(int)",
      "aten::mm"};
  shorten_names(names, 30);
  EXPECT_EQ(names[0], "vectorized…<4, AddFunctor<fl…>");
  EXPECT_EQ(names[1], "vectorized…<4, MulFunctor<fl…>");
  EXPECT_EQ(names[2], "vectorized…<4, MulFunctor<do…>");
  EXPECT_EQ(names[3], "aten::mm");
}

TEST(ShortenNames, LeavesEqualNamesEqual) {
  std::vector<std::string> names(2, "void some_kernel_with_a_long_name<float, 4, 128>(int)");
  shorten_names(names, 30);
  EXPECT_EQ(names[0], names[1]);
}

TEST(ShortenNames, TellsApartWhatDiffersInTheMiddleOnly) {
  std::vector<std::string> names = {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT",
                                    "nvjet_tst_64x64_64x16_2x4_2cta_v_bz_bias_TNT"};
  shorten_names(names, 24);
  EXPECT_NE(names[0], names[1]);
}

TEST(ShortenNames, NeverExceedsTheWidth) {
  const std::vector<std::string> recorded = {
      "void f<a::long_functor_name<1>, 2>(int)", "void f<a::long_functor_name<1>, 3>(int)",
      "void f<b::long_functor_name<1>, 3>(int)", "void g<µ::long_functor_name<1>, 3>(int)"};
  for (std::size_t width = 1; width < 40; ++width) {
    std::vector<std::string> names = recorded;
    shorten_names(names, width);
    for (const std::string& name : names) EXPECT_LE(display_width(name), width) << name;
  }
}

}  // namespace
}  // namespace fathom
