// torch's formulas on recorded arguments.
#include "analysis/operators/torch_flops.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::string_view kConvShapes = "[[32,3,224,224],[64,3,7,7],[],[],[],[],[]]";

TEST(TorchFlops, AMatrixProductCostsTwicePerMultiplication) {
  EXPECT_EQ(torch_flops(FlopsFormula::mm, "[[2,3],[3,4]]", "", ""), 48U);
  EXPECT_EQ(torch_flops(FlopsFormula::addmm, "[[4],[2,3],[3,4],[],[]]", "", ""), 48U);
  EXPECT_EQ(torch_flops(FlopsFormula::bmm, "[[10,2,3],[10,3,4]]", "", ""), 480U);
  EXPECT_EQ(torch_flops(FlopsFormula::baddbmm, "[[],[10,2,3],[10,3,4]]", "", ""), 480U);
}

TEST(TorchFlops, EmptyMatricesCostNothing) {
  EXPECT_EQ(torch_flops(FlopsFormula::mm, "[[2,0],[0,4]]", "", ""), 0U);
  EXPECT_EQ(torch_flops(FlopsFormula::bmm, "[[0,2,3],[0,3,4]]", "", ""), 0U);
}

TEST(TorchFlops, ElementwiseCountsTheFirstInputWhenItIsATensor) {
  EXPECT_EQ(torch_flops(FlopsFormula::add, "[[5,6],[],[]]", R"(["float","Scalar","Scalar"])", ""),
            30U);
  EXPECT_EQ(torch_flops(FlopsFormula::multiply, "[[],[5]]", R"(["double","float"])", ""), 1U);
  EXPECT_EQ(torch_flops(FlopsFormula::multiply, "[[],[5]]", R"(["Scalar","float"])", ""), 0U);
}

TEST(TorchFlops, AConvolutionNeedsItsArguments) {
  const std::string_view concrete = R"(["","","","[2, 2]","[3, 3]","[1, 1]","1"])";
  EXPECT_EQ(torch_flops(FlopsFormula::conv2d, kConvShapes, "", concrete),
            2ULL * 32 * 112 * 112 * 7 * 7 * 3 * 64);
  EXPECT_EQ(torch_flops(FlopsFormula::conv2d, kConvShapes, "", ""), std::nullopt);
}

TEST(TorchFlops, TorchGivesUpOnPaddingByName) {
  const std::string_view concrete = R"(["","","","[2, 2]","same","[1, 1]","1"])";
  EXPECT_EQ(torch_flops(FlopsFormula::conv2d, kConvShapes, "", concrete), 0U);
}

TEST(TorchFlops, GroupsDivideTheWork) {
  const std::string_view concrete = R"(["","","","[1, 1]","[0, 0]","[1, 1]","4"])";
  EXPECT_EQ(torch_flops(FlopsFormula::conv2d, "[[1,8,4,4],[8,2,1,1],[],[],[],[],[]]", "", concrete),
            2ULL * 4 * 4 * 8 * 8 / 4);
}

TEST(TorchFlops, WithoutShapesThereIsNoAnswer) {
  EXPECT_EQ(torch_flops(FlopsFormula::mm, "", "", ""), std::nullopt);
}

}  // namespace
}  // namespace fathom
