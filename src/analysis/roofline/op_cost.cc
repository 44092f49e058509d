// Chooses the cost formula of an operator by its name.
#include "analysis/roofline/op_cost.h"

#include <algorithm>
#include <array>

#include "analysis/kernels/triton_names.h"
#include "analysis/roofline/op_formulas.h"

namespace fathom {
namespace {

struct Named {
  std::string_view name;
  OpFormula formula;
};

constexpr OpFormula whole(decltype(OpFormula::cost) cost) { return {.cost = cost, .whole = true}; }
constexpr OpFormula part(decltype(OpFormula::cost) cost) { return {.cost = cost}; }
/// `flops` per element, over so many inputs.
constexpr OpFormula each(decltype(OpFormula::cost) cost, int flops, int inputs = 1) {
  return {.cost = cost, .per = {.flops = flops, .inputs = inputs}};
}
constexpr OpFormula unary(int flops = 1) { return each(cost::elementwise, flops, 1); }
constexpr OpFormula binary(int flops = 1) { return each(cost::elementwise, flops, 2); }
constexpr OpFormula ternary(int flops) { return each(cost::elementwise, flops, 3); }

// Operations of interpolation, as aten/src/ATen/native/cuda/UpSample*.cu of PyTorch writes them.
// Two neighbours: two products and a sum; more dimensions: the same of what the lower one gives.
constexpr int kLinear = 3;
constexpr int kBilinear = 3 * kLinear;
constexpr int kTrilinear = 2 * kBilinear + kLinear;
constexpr int kBicubic = 5 * (4 + 3);  // four neighbours in each of four rows, then of these
// Backward, each neighbour gets the gradient times a factor per dimension added.
constexpr int kNearestBackward = 1;
constexpr int kLinearBackward = 2 * (1 + 1);
constexpr int kBilinearBackward = 4 * (2 + 1);
constexpr int kTrilinearBackward = 8 * (3 + 1);
constexpr int kBicubicBackward = 16 * (2 + 1);
// aten/src/ATen/native/cuda/group_norm_kernel.cu: sums of dy * x and of dy (3), c1 * dy + c2 * x +
// c3 (4).
constexpr int kGroupNormBackward = 7;
// aten/src/ATen/native/cuda/layer_norm_kernel.cu: x * rstd and dy * weight (2), their product
// summed (2), (w - x * c) * rstd (3), the sum of dy * x for the weight (2).
constexpr int kRmsNormBackward = 9;

/// By name. A function such as exp counts as one operation; what is written out in several is
/// counted: lerp is a subtraction, a product and a sum.
constexpr std::array kFormulas = std::to_array<Named>({
    {"_C::fused_add_rms_norm", each(cost::add_rms_norm, 5)},
    {"_C::rms_norm", each(cost::rms_norm_out, 4)},
    {"_C::silu_and_mul", each(cost::gated_activation, 5)},
    {"aiter::gemm_a16w16", part(cost::linear)},
    {"aten::_adaptive_avg_pool2d", each(cost::reduction, 1)},
    {"aten::_adaptive_avg_pool2d_backward", binary()},
    {"aten::_convolution", whole(cost::convolution)},
    {"aten::_flash_attention_forward", whole(cost::flash_attention_inner)},
    {"aten::_foreach_add", each(cost::foreach, 1)},
    {"aten::_foreach_addcdiv", each(cost::foreach, 3)},
    {"aten::_foreach_addcmul", each(cost::foreach, 3)},
    {"aten::_foreach_copy", part(cost::foreach_copy)},
    {"aten::_foreach_div", each(cost::foreach, 1)},
    {"aten::_foreach_lerp", each(cost::foreach, 3)},
    {"aten::_foreach_mul", each(cost::foreach, 1)},
    {"aten::_foreach_neg", each(cost::foreach, 1)},
    {"aten::_foreach_sqrt", each(cost::foreach, 1)},
    {"aten::_foreach_sub", each(cost::foreach, 1)},
    {"aten::_foreach_zero", part(cost::foreach_fill)},
    {"aten::_fused_adam", each(cost::fused_optimizer, 12)},
    {"aten::_fused_adamw", each(cost::fused_optimizer, 12)},
    {"aten::_fused_rms_norm", each(cost::layer_norm, 4)},
    {"aten::_fused_rms_norm_backward", each(cost::rms_norm_backward, kRmsNormBackward)},
    {"aten::_fused_sgd", each(cost::fused_optimizer, 4)},
    {"aten::_log_softmax", each(cost::softmax, 5)},
    {"aten::_log_softmax_backward_data", each(cost::softmax_backward, 4)},
    {"aten::_scaled_dot_product_attention_math", whole(cost::math_attention)},
    {"aten::_scaled_dot_product_cudnn_attention", whole(cost::cudnn_attention)},
    {"aten::_scaled_dot_product_cudnn_attention_backward", whole(cost::cudnn_attention_backward)},
    {"aten::_scaled_dot_product_efficient_attention", whole(cost::efficient_attention)},
    {"aten::_scaled_dot_product_efficient_attention_backward",
     whole(cost::efficient_attention_backward)},
    {"aten::_scaled_dot_product_flash_attention", whole(cost::flash_attention)},
    {"aten::_scaled_dot_product_flash_attention_backward", whole(cost::flash_attention_backward)},
    {"aten::_scaled_mm", part(cost::scaled_mm)},
    {"aten::_softmax", each(cost::softmax, 5)},
    {"aten::_softmax_backward_data", each(cost::softmax_backward, 4)},
    {"aten::_upsample_nearest_exact1d", each(cost::upsample, 0)},
    {"aten::_upsample_nearest_exact1d_backward", each(cost::upsample_backward, kNearestBackward)},
    {"aten::_upsample_nearest_exact2d", each(cost::upsample, 0)},
    {"aten::_upsample_nearest_exact2d_backward", each(cost::upsample_backward, kNearestBackward)},
    {"aten::_upsample_nearest_exact3d", each(cost::upsample, 0)},
    {"aten::_upsample_nearest_exact3d_backward", each(cost::upsample_backward, kNearestBackward)},
    {"aten::abs", unary()},
    {"aten::add", binary()},
    {"aten::addcdiv", ternary(3)},
    {"aten::addcmul", ternary(3)},
    {"aten::addmm", part(cost::addmm)},
    {"aten::all", each(cost::reduction, 1)},
    {"aten::amax", each(cost::reduction, 1)},
    {"aten::amin", each(cost::reduction, 1)},
    {"aten::any", each(cost::reduction, 1)},
    {"aten::argmax", each(cost::reduction, 1)},
    {"aten::argmin", each(cost::reduction, 1)},
    {"aten::avg_pool1d", part(cost::avg_pool)},
    {"aten::avg_pool2d", part(cost::avg_pool)},
    {"aten::avg_pool3d", part(cost::avg_pool)},
    {"aten::baddbmm", part(cost::baddbmm)},
    {"aten::bitwise_and", binary()},
    {"aten::bitwise_not", unary()},
    {"aten::bitwise_or", binary()},
    {"aten::bmm", part(cost::bmm)},
    {"aten::cat", part(cost::concatenation)},
    {"aten::ceil", unary()},
    {"aten::clamp", unary(2)},
    {"aten::clamp_max", unary()},
    {"aten::clamp_min", unary()},
    {"aten::convolution", whole(cost::convolution)},
    {"aten::convolution_backward", whole(cost::convolution_backward)},
    {"aten::copy", part(cost::copy)},
    {"aten::cos", unary()},
    {"aten::cudnn_batch_norm", each(cost::batch_norm, 5)},
    {"aten::cudnn_batch_norm_backward", each(cost::norm_backward, 9)},
    {"aten::cudnn_convolution", whole(cost::cudnn_convolution)},
    {"aten::cudnn_convolution_backward", whole(cost::cudnn_convolution_backward)},
    {"aten::cumsum", unary()},
    {"aten::div", binary()},
    {"aten::embedding", part(cost::embedding)},
    {"aten::embedding_dense_backward", part(cost::embedding_backward)},
    {"aten::eq", each(cost::comparison, 1, 2)},
    {"aten::erf", unary()},
    {"aten::exp", unary()},
    {"aten::fill", part(cost::fill)},
    {"aten::floor", unary()},
    {"aten::gather", part(cost::gather)},
    {"aten::ge", each(cost::comparison, 1, 2)},
    {"aten::gelu", unary(5)},
    {"aten::gelu_backward", binary(11)},
    {"aten::gt", each(cost::comparison, 1, 2)},
    {"aten::hardtanh", unary(2)},
    {"aten::index_add", part(cost::scatter_add)},
    {"aten::index_select", part(cost::index_select)},
    {"aten::isnan", each(cost::comparison, 1, 1)},
    {"aten::le", each(cost::comparison, 1, 2)},
    {"aten::leaky_relu", unary(2)},
    {"aten::leaky_relu_backward", binary(2)},
    {"aten::lerp", ternary(3)},
    {"aten::linear", part(cost::linear)},
    {"aten::log", unary()},
    {"aten::log2", unary()},
    {"aten::logical_and", each(cost::comparison, 1, 2)},
    {"aten::logical_not", each(cost::comparison, 1, 1)},
    {"aten::logical_or", each(cost::comparison, 1, 2)},
    {"aten::lt", each(cost::comparison, 1, 2)},
    {"aten::masked_fill", binary(0)},
    {"aten::matmul", part(cost::matmul)},
    {"aten::max", each(cost::reduction, 1)},
    {"aten::max_pool2d_with_indices", part(cost::max_pool)},
    {"aten::max_pool2d_with_indices_backward", part(cost::max_pool_backward)},
    {"aten::max_pool3d_with_indices", part(cost::max_pool)},
    {"aten::maximum", binary()},
    {"aten::mean", each(cost::reduction, 1)},
    {"aten::min", each(cost::reduction, 1)},
    {"aten::minimum", binary()},
    {"aten::miopen_batch_norm", each(cost::batch_norm, 5)},
    {"aten::miopen_batch_norm_backward", each(cost::norm_backward, 9)},
    {"aten::miopen_convolution", whole(cost::cudnn_convolution)},
    {"aten::mkldnn_convolution", whole(cost::mkldnn_convolution)},
    {"aten::mm", part(cost::mm)},
    {"aten::mul", binary()},
    {"aten::nan_to_num", unary()},
    {"aten::native_batch_norm", each(cost::batch_norm, 5)},
    {"aten::native_batch_norm_backward", each(cost::norm_backward, 9)},
    {"aten::native_dropout", part(cost::dropout)},
    {"aten::native_dropout_backward", binary(2)},
    {"aten::native_group_norm", each(cost::group_norm, 5)},
    {"aten::native_group_norm_backward", each(cost::group_norm_backward, kGroupNormBackward)},
    {"aten::native_layer_norm", each(cost::layer_norm, 5)},
    {"aten::native_layer_norm_backward", each(cost::norm_backward, 9)},
    {"aten::ne", each(cost::comparison, 1, 2)},
    {"aten::neg", unary()},
    {"aten::norm", each(cost::reduction, 2)},
    {"aten::pow", binary()},
    {"aten::prod", each(cost::reduction, 1)},
    {"aten::reciprocal", unary()},
    {"aten::relu", unary()},
    {"aten::remainder", binary()},
    {"aten::round", unary()},
    {"aten::rsqrt", unary()},
    {"aten::rsub", binary()},
    {"aten::scaled_dot_product_attention", part(cost::math_attention)},
    {"aten::scatter", part(cost::scatter)},
    {"aten::scatter_add", part(cost::scatter_add)},
    {"aten::sgn", unary()},
    {"aten::sigmoid", unary()},
    {"aten::sigmoid_backward", binary()},
    {"aten::sign", unary()},
    {"aten::silu", unary()},
    {"aten::silu_backward", binary(5)},
    {"aten::sin", unary()},
    {"aten::softplus", unary(3)},
    {"aten::sqrt", unary()},
    {"aten::std", each(cost::reduction, 3)},
    {"aten::sub", binary()},
    {"aten::sum", each(cost::reduction, 1)},
    {"aten::tanh", unary()},
    {"aten::tanh_backward", binary(3)},
    {"aten::threshold", unary()},
    {"aten::threshold_backward", binary()},
    {"aten::tril", unary(0)},
    {"aten::triu", unary(0)},
    {"aten::upsample_bicubic2d", each(cost::upsample, kBicubic)},
    {"aten::upsample_bicubic2d_backward", each(cost::upsample_backward, kBicubicBackward)},
    {"aten::upsample_bilinear2d", each(cost::upsample, kBilinear)},
    {"aten::upsample_bilinear2d_backward", each(cost::upsample_backward, kBilinearBackward)},
    {"aten::upsample_linear1d", each(cost::upsample, kLinear)},
    {"aten::upsample_linear1d_backward", each(cost::upsample_backward, kLinearBackward)},
    {"aten::upsample_nearest1d", each(cost::upsample, 0)},
    {"aten::upsample_nearest1d_backward", each(cost::upsample_backward, kNearestBackward)},
    {"aten::upsample_nearest2d", each(cost::upsample, 0)},
    {"aten::upsample_nearest2d_backward", each(cost::upsample_backward, kNearestBackward)},
    {"aten::upsample_nearest3d", each(cost::upsample, 0)},
    {"aten::upsample_nearest3d_backward", each(cost::upsample_backward, kNearestBackward)},
    {"aten::upsample_trilinear3d", each(cost::upsample, kTrilinear)},
    {"aten::upsample_trilinear3d_backward", each(cost::upsample_backward, kTrilinearBackward)},
    {"aten::var", each(cost::reduction, 3)},
    {"aten::var_mean", each(cost::reduction, 4)},
    {"aten::where", ternary(0)},
    {"aten::zero", part(cost::fill)},
    {"flash_attn::_flash_attn_forward", whole(cost::flash_attn_package)},
    {"sgl_kernel::fused_add_rmsnorm", each(cost::add_rms_norm, 5)},
    {"sgl_kernel::rmsnorm", each(cost::rms_norm_out, 4)},
    {"sgl_kernel::silu_and_mul", each(cost::gated_activation, 5)},
    {"vllm::rocm_unquantized_gemm", part(cost::linear)},
});
static_assert(std::ranges::is_sorted(kFormulas, {}, &Named::name));

}  // namespace

OpFormula op_formula(std::string_view name) {
  if (is_inductor_name(name)) return part(cost::generated);
  if (name.ends_with('_')) name.remove_suffix(1);
  const auto at = std::ranges::lower_bound(kFormulas, name, {}, &Named::name);
  return at != kFormulas.end() && at->name == name ? at->formula : OpFormula();
}

}  // namespace fathom
