// What operators cost at least.
#include "analysis/roofline/op_cost.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::optional<OpCost> price(std::string_view name, std::string_view shapes, std::string_view types,
                            std::string_view concrete = "", std::string_view list_type = "") {
  const OpFormula formula = op_formula(name);
  if (!formula) return std::nullopt;
  return formula(OpArguments(shapes, types, concrete, list_type));
}

TEST(OpCost, aProductOfMatricesIsTwoOperationsPerPairAndMovesThreeMatrices) {
  const auto cost = price("aten::mm", "[[2,3],[3,5]]", R"(["float","float"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 2 * 2 * 3 * 5);
  EXPECT_EQ(cost->bytes, 4 * (6 + 15 + 10));
  EXPECT_EQ(cost->type, NumberType::fp32);
  EXPECT_TRUE(cost->matrix);
}

TEST(OpCost, aBiasIsReadAndAddedToEachOutput) {
  const auto cost = price("aten::addmm", "[[5],[2,3],[3,5],[],[]]",
                          R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 2 * 2 * 3 * 5 + 10);
  EXPECT_EQ(cost->bytes, 2 * (5 + 6 + 15 + 10));
}

TEST(OpCost, aBatchOfProductsCountsEach) {
  const auto cost = price("aten::bmm", "[[7,2,3],[7,3,5]]", R"(["double","double"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 7 * 2 * 2 * 3 * 5);
  EXPECT_EQ(cost->bytes, 8 * 7 * (6 + 15 + 10));
}

TEST(OpCost, productsOf8BitOperandsGive16Bits) {
  const auto cost =
      price("aten::_scaled_mm", "[[2,3],[3,5]]", R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, 6 + 15 + 2 * 10);
  EXPECT_EQ(cost->type, NumberType::fp8);
}

TEST(OpCost, aLinearLayerMultipliesByTheTransposedWeight) {
  const auto cost = price("aten::linear", "[[4,2,3],[5,3],[5]]", R"(["float","float","float"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 2 * 8 * 5 * 3 + 8 * 5);
}

TEST(OpCost, leadingDimensionsOfMatmulBroadcast) {
  const auto cost = price("aten::matmul", "[[4,2,3],[3,5]]", R"(["float","float"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 4 * 2 * 2 * 3 * 5);
}

TEST(OpCost, shapesThatAreNoMatricesHaveNoPrice) {
  EXPECT_FALSE(price("aten::mm", "[[2,3],[]]", R"(["float","Scalar"])"));
  EXPECT_FALSE(price("aten::mm", "[[6],[6]]", R"(["float","float"])"));
  EXPECT_FALSE(price("aten::mm", "", ""));
}

constexpr std::string_view kConvTypes =
    R"(["float","float","float","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])";

TEST(OpCost, aConvolutionAppliesOneFilterPerOutput) {
  const auto cost =
      price("aten::convolution", "[[2,3,8,8],[4,3,3,3],[4],[],[],[],[],[],[]]", kConvTypes,
            R"(["","","","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1"])");
  ASSERT_TRUE(cost);
  const double outputs = 2 * 4 * 4 * 4;
  EXPECT_EQ(cost->flops, 2 * outputs * 27 + outputs);
  EXPECT_EQ(cost->bytes, 4 * (2 * 3 * 64 + 4 * 27 + 4 + outputs));
}

TEST(OpCost, aGroupedConvolutionHasSmallerFilters) {
  const auto cost = price(
      "aten::convolution", "[[1,8,4,4],[8,1,3,3],[],[],[],[],[],[],[]]",
      R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])",
      R"(["","","","[1]","[1]","[1]","False","[0]","8"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 2 * (8 * 16) * 9);
}

TEST(OpCost, ofATransposedConvolutionEachInputMeetsAFilter) {
  const auto cost = price(
      "aten::convolution", "[[1,4,5,5],[4,2,2,2],[],[],[],[],[],[],[]]",
      R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])",
      R"(["","","","[2, 2]","[0, 0]","[1, 1]","True","[0, 0]","1"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 2 * (4 * 25) * 8);
  EXPECT_EQ(cost->bytes, 4 * (100 + 32 + 2 * 100));
}

TEST(OpCost, aConvolutionWithoutItsArgumentsHasNoPrice) {
  EXPECT_FALSE(
      price("aten::convolution", "[[2,3,8,8],[4,3,3,3],[4],[],[],[],[],[],[]]", kConvTypes));
}

TEST(OpCost, aWindowLargerThanTheInputHasNoPrice) {
  EXPECT_FALSE(price("aten::convolution", "[[2,3,2,2],[4,3,7,7],[4],[],[],[],[],[],[]]", kConvTypes,
                     R"(["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1"])"));
}

TEST(OpCost, backwardOfAConvolutionIsAProductPerGradientAskedFor) {
  const std::string_view shapes = "[[2,4,4,4],[2,3,8,8],[4,3,3,3],[],[],[],[],[],[],[],[]]";
  const std::string_view types =
      R"(["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar",""])";
  const double product = 2 * (2 * 4 * 4 * 4) * 27;
  const auto both = price("aten::convolution_backward", shapes, types);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->flops, 2 * product);
  const auto weight = price("aten::convolution_backward", shapes, types,
                            R"(["","","","","","","","False","","1","[False, True, False]"])");
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight->flops, product);
  EXPECT_LT(weight->bytes, both->bytes);
}

constexpr std::string_view kAttentionTypes =
    R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar"])";

TEST(OpCost, attentionIsTwoProductsAndMovesFourTensors) {
  const auto cost = price("aten::_scaled_dot_product_flash_attention",
                          "[[2,8,16,64],[2,8,32,64],[2,8,32,64],[],[],[],[]]", kAttentionTypes,
                          R"(["","","","0.","False","False","0.125"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 2.0 * 2 * (2 * 8) * 16 * 32 * 64);
  EXPECT_EQ(cost->bytes, 2.0 * (2 * (2 * 8 * 16 * 64) + 2 * (2 * 8 * 32 * 64)));
}

TEST(OpCost, aCausalMaskHalvesASquare) {
  const auto cost = price("aten::_scaled_dot_product_flash_attention",
                          "[[1,1,16,64],[1,1,16,64],[1,1,16,64],[],[],[],[]]", kAttentionTypes,
                          R"(["","","","0.","True","False","0.125"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 2.0 * 2 * 16 * 16 * 64 / 2);
}

TEST(OpCost, groupedQueriesReadFewerKeys) {
  const auto cost = price("aten::_scaled_dot_product_flash_attention",
                          "[[1,8,16,64],[1,2,16,64],[1,2,16,64],[],[],[],[]]", kAttentionTypes,
                          R"(["","","","0.","False","False","0.125"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 2.0 * 2 * 8 * 16 * 16 * 64);
  EXPECT_EQ(cost->bytes, 2.0 * (2 * 8 * 16 * 64 + 2 * 2 * 16 * 64));
}

TEST(OpCost, attentionBackwardIsTwoAndAHalfTimesForward) {
  const auto cost =
      price("aten::_scaled_dot_product_efficient_attention_backward",
            "[[4,8,256,64],[4,8,256,64],[4,8,256,64],[4,8,256,64],[],[4,8,256,64],[4,8,256]]",
            R"(["float","float","float","float","","float","float"])");
  ASSERT_TRUE(cost);
  const double tensor = 4.0 * 8 * 256 * 64;
  EXPECT_EQ(cost->flops, 2.5 * 2 * 2 * tensor * 256);
  EXPECT_EQ(cost->bytes, 4 * 8 * tensor);
}

TEST(OpCost, elementwiseOperatorsBroadcast) {
  const auto cost = price("aten::mul", "[[8,1],[4]]", R"(["float","float"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 32);
  EXPECT_EQ(cost->bytes, 4 * (8 + 4 + 32));
}

TEST(OpCost, theWiderTypeIsWritten) {
  const auto cost = price("aten::add", "[[8],[8],[]]", R"(["c10::Half","float","Scalar"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, 8 * (2 + 4 + 4));
}

TEST(OpCost, aNumberDoesNotWidenATensor) {
  const auto cost = price("aten::mul", "[[8],[]]", R"(["float","double"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, 8 * 4 + 8 + 8 * 4);
}

TEST(OpCost, theOutputOfAnOutVariantIsNotReadToo) {
  const auto plain = price("aten::mul", "[[8],[8]]", R"(["float","float"])");
  const auto out = price("aten::mul", "[[8],[8],[8]]", R"(["float","float","float"])");
  EXPECT_EQ(plain, out);
}

TEST(OpCost, inPlaceCostsTheSame) {
  EXPECT_EQ(price("aten::relu_", "[[8]]", R"(["float"])"),
            price("aten::relu", "[[8]]", R"(["float"])"));
}

TEST(OpCost, copiesComputeNothing) {
  const auto cost = price("aten::copy_", "[[8],[8],[]]", R"(["float","c10::Half","Scalar"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 0);
  EXPECT_EQ(cost->bytes, 8 * 4 + 8 * 2);
}

TEST(OpCost, aReductionWritesWhatIsLeft) {
  const auto cost = price("aten::sum", "[[4,8],[],[],[]]", R"(["float","ScalarList","Scalar",""])",
                          R"(["","[-1]","False",""])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 32);
  EXPECT_EQ(cost->bytes, 4 * (32 + 4));
  const auto all = price("aten::sum", "[[4,8],[]]", R"(["float",""])", R"(["",""])");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->bytes, 4 * 33);
  EXPECT_FALSE(price("aten::sum", "[[4,8],[]]", R"(["float",""])"));
}

TEST(OpCost, aLayerNormWritesTwoStatisticsPerRow) {
  const auto cost = price("aten::native_layer_norm", "[[4,8],[],[8],[8],[]]",
                          R"(["c10::Half","ScalarList","c10::Half","c10::Half","Scalar"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 5 * 32);
  EXPECT_EQ(cost->bytes, 2 * (32 + 32 + 8 + 8) + 2 * 4 * 4);
}

TEST(OpCost, aBatchNormOutsideTrainingOnlyScales) {
  const std::string_view shapes = "[[2,4,3,3],[4],[4],[4],[4],[],[],[]]";
  const std::string_view types =
      R"(["float","float","float","float","float","Scalar","Scalar","Scalar"])";
  const auto training =
      price("aten::native_batch_norm", shapes, types, R"(["","","","","","True","0.1","1e-05"])");
  const auto not_training =
      price("aten::native_batch_norm", shapes, types, R"(["","","","","","False","0.1","1e-05"])");
  ASSERT_TRUE(training && not_training);
  EXPECT_EQ(training->flops, 5 * 72);
  EXPECT_EQ(not_training->flops, 2 * 72);
  EXPECT_EQ(training->bytes - not_training->bytes, 4 * 4 * 4);
}

TEST(OpCost, aBatchNormWithoutRunningStatisticsUpdatesNone) {
  const std::string_view values = R"(["","","","","","True","0.1","1e-05"])";
  const auto kept =
      price("aten::native_batch_norm", "[[2,4,3,3],[4],[4],[4],[4],[],[],[]]",
            R"(["float","float","float","float","float","Scalar","Scalar","Scalar"])", values);
  const auto none = price("aten::native_batch_norm", "[[2,4,3,3],[4],[4],[],[],[],[],[]]",
                          R"(["float","float","float","","","Scalar","Scalar","Scalar"])", values);
  ASSERT_TRUE(kept && none);
  // Input, output, weight and bias, and the mean and deviation that are saved.
  EXPECT_EQ(none->bytes, 4 * (72 + 72 + 4 + 4 + 2 * 4));
  // Two running ones, read and written.
  EXPECT_EQ(kept->bytes - none->bytes, 4 * (2 * 2 * 4));
}

TEST(OpCost, upsamplingWritesTheLargerImage) {
  const std::string_view types = R"(["float","ScalarList","Scalar","Scalar","Scalar"])";
  const auto nearest =
      price("aten::upsample_nearest2d", "[[2,3,4,4],[],[],[]]",
            R"(["float","ScalarList","Scalar","Scalar"])", R"(["","[8, 8]","2.","2."])");
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->flops, 0);
  EXPECT_EQ(nearest->bytes, 4 * (2 * 3 * 16 + 2 * 3 * 64));
  const auto smooth = price("aten::upsample_bilinear2d", "[[2,3,4,4],[],[],[],[]]", types,
                            R"(["","[8, 8]","False","2.","2."])");
  ASSERT_TRUE(smooth);
  EXPECT_EQ(smooth->flops, 9 * 2 * 3 * 64);
  EXPECT_EQ(smooth->bytes, nearest->bytes);
}

TEST(OpCost, nearestNeighboursOfASmallerImageAreFewerThanItsPixels) {
  const auto cost = price("aten::upsample_nearest1d", "[[1,2,100],[],[]]",
                          R"(["float","ScalarList","Scalar"])", R"(["","[10]",""])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, 4 * (20 + 20));
}

TEST(OpCost, upsamplingBackwardAddsToTheSmallerImage) {
  const auto cost = price("aten::upsample_bilinear2d_backward", "[[2,3,8,8],[],[],[],[],[]]",
                          R"(["float","ScalarList","ScalarList","Scalar","Scalar","Scalar"])",
                          R"(["","[8, 8]","[2, 3, 4, 4]","False","2.","2."])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 12 * 2 * 3 * 64);
  EXPECT_EQ(cost->bytes, 4 * (2 * 3 * 64 + 2 * 3 * 16));
}

TEST(OpCost, upsamplingWithoutItsSizeHasNoPrice) {
  EXPECT_FALSE(price("aten::upsample_nearest2d", "[[2,3,4,4],[],[]]",
                     R"(["float","ScalarList","ScalarList"])", R"(["","","[2., 2.]"])"));
  EXPECT_FALSE(price("aten::upsample_nearest2d", "[[2,3,4,4],[],[]]",
                     R"(["float","ScalarList","ScalarList"])"));
}

TEST(OpCost, groupNormBackwardReadsGradientAndInputAndWritesAGradient) {
  const auto cost =
      price("aten::native_group_norm_backward", "[[2,6,5],[2,6,5],[2,3],[2,3],[6],[],[],[],[],[]]",
            R"(["float","float","float","float","float","Scalar","Scalar","Scalar","Scalar",""])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 7 * 60);
  EXPECT_EQ(cost->bytes, 4 * (60 + 60 + 6 + 6 + 6 + 60 + 2 * 6));
}

TEST(OpCost, rmsNormBackwardHasAGradientOfItsWeightWhereThereIsOne) {
  const auto cost = price("aten::_fused_rms_norm_backward", "[[4,8],[4,8],[],[4,1],[8],[]]",
                          R"(["float","float","ScalarList","float","float",""])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 9 * 32);
  EXPECT_EQ(cost->bytes, 4 * (32 + 32 + 4 + 8 + 32 + 8));
  const auto bare = price("aten::_fused_rms_norm_backward", "[[4,8],[4,8],[],[4,1],[],[]]",
                          R"(["float","float","ScalarList","float","",""])");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->flops, 6 * 32);
  EXPECT_EQ(bare->bytes, 4 * (32 + 32 + 4 + 32));
}

TEST(OpCost, anEmbeddingMovesOnlyTheRowsAskedFor) {
  const auto cost = price("aten::embedding", "[[1000,16],[2,5],[],[],[]]",
                          R"(["float","long int","Scalar","Scalar","Scalar"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, 10 * 8 + 2 * 10 * 16 * 4);
}

TEST(OpCost, indexSelectCountsRowsAlongItsDimension) {
  const auto cost = price("aten::index_select", "[[100,16],[],[7]]",
                          R"(["float","Scalar","long int"])", R"(["","-2",""])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, 7 * 8 + 2 * 7 * 16 * 4);
}

TEST(OpCost, listsOfTensorsTakeTheTypeOfTheKernel) {
  const std::string_view shapes = "[[[4,4],[8]],[[4,4],[8]],[]]";
  const std::string_view types = R"(["TensorList","TensorList","Scalar"])";
  const auto cost = price("aten::_foreach_add_", shapes, types, "", "float");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->flops, 24);
  EXPECT_EQ(cost->bytes, 3 * 24 * 4);
  EXPECT_FALSE(price("aten::_foreach_add_", shapes, types));
}

TEST(OpCost, aFusedAdamReadsGradientsAndUpdatesTheRest) {
  const auto cost =
      price("aten::_fused_adamw_", "[[[8]],[[8]],[[8]],[[8]],[],[]]",
            R"(["TensorList","TensorList","TensorList","TensorList","TensorList","TensorList"])",
            "", "float");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, 4 * 8 * (2 * 4 - 1));
}

TEST(OpCost, generatedKernelsMoveEachTensorOnce) {
  const auto cost = price("triton_poi_fused_add_mul_3", "[[8],[8],[]]",
                          R"(["float","c10::Half","Scalar"])", R"(["","","8"])");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, 8 * 4 + 8 * 2);
  EXPECT_FALSE(cost->flops_known);
}

TEST(OpCost, unknownOperatorsHaveNoFormula) {
  EXPECT_FALSE(op_formula("my::op"));
  EXPECT_FALSE(op_formula(""));
  EXPECT_FALSE(op_formula("_"));
}

TEST(OpCost, hostileArgumentsHaveNoPriceOrAFiniteOne) {
  for (const std::string_view shapes :
       {"[", "[[1,2],[", "[[-3,2],[2,2]]", "[[9223372036854775807,2],[2,2]]", "[[0,0],[0,0]]",
        "[[[[]]]]", "{}"}) {
    const auto cost = price("aten::mm", shapes, R"(["float","float"])");
    if (cost) {
      EXPECT_TRUE(std::isfinite(cost->flops)) << shapes;
    }
  }
}

}  // namespace
}  // namespace fathom
