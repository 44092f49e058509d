// Which operator has which formula.
#include "analysis/op_cost.h"

#include <algorithm>
#include <array>

#include "analysis/op_formulas.h"
#include "analysis/triton_names.h"

namespace fathom {
namespace {

using namespace cost;

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
constexpr OpFormula unary(int flops = 1) { return each(elementwise, flops, 1); }
constexpr OpFormula binary(int flops = 1) { return each(elementwise, flops, 2); }
constexpr OpFormula ternary(int flops) { return each(elementwise, flops, 3); }

/// By name. A function such as exp counts as one operation; what is written out in several is
/// counted: lerp is a subtraction, a product and a sum.
constexpr std::array kFormulas = std::to_array<Named>({
    {"_C::fused_add_rms_norm", each(add_rms_norm, 5)},
    {"_C::rms_norm", each(rms_norm_out, 4)},
    {"_C::silu_and_mul", each(gated_activation, 5)},
    {"aiter::gemm_a16w16", part(linear)},
    {"aten::_adaptive_avg_pool2d", each(reduction, 1)},
    {"aten::_adaptive_avg_pool2d_backward", binary()},
    {"aten::_convolution", whole(convolution)},
    {"aten::_flash_attention_forward", whole(flash_attention_inner)},
    {"aten::_foreach_add", each(foreach, 1)},
    {"aten::_foreach_addcdiv", each(foreach, 3)},
    {"aten::_foreach_addcmul", each(foreach, 3)},
    {"aten::_foreach_copy", part(foreach_copy)},
    {"aten::_foreach_div", each(foreach, 1)},
    {"aten::_foreach_lerp", each(foreach, 3)},
    {"aten::_foreach_mul", each(foreach, 1)},
    {"aten::_foreach_neg", each(foreach, 1)},
    {"aten::_foreach_sqrt", each(foreach, 1)},
    {"aten::_foreach_sub", each(foreach, 1)},
    {"aten::_foreach_zero", part(foreach_fill)},
    {"aten::_fused_adam", each(fused_optimizer, 12)},
    {"aten::_fused_adamw", each(fused_optimizer, 12)},
    {"aten::_fused_rms_norm", each(layer_norm, 4)},
    {"aten::_fused_sgd", each(fused_optimizer, 4)},
    {"aten::_log_softmax", each(softmax, 5)},
    {"aten::_log_softmax_backward_data", each(softmax_backward, 4)},
    {"aten::_scaled_dot_product_attention_math", whole(math_attention)},
    {"aten::_scaled_dot_product_cudnn_attention", whole(cudnn_attention)},
    {"aten::_scaled_dot_product_cudnn_attention_backward", whole(cudnn_attention_backward)},
    {"aten::_scaled_dot_product_efficient_attention", whole(efficient_attention)},
    {"aten::_scaled_dot_product_efficient_attention_backward", whole(efficient_attention_backward)},
    {"aten::_scaled_dot_product_flash_attention", whole(flash_attention)},
    {"aten::_scaled_dot_product_flash_attention_backward", whole(flash_attention_backward)},
    {"aten::_scaled_mm", part(scaled_mm)},
    {"aten::_softmax", each(softmax, 5)},
    {"aten::_softmax_backward_data", each(softmax_backward, 4)},
    {"aten::abs", unary()},
    {"aten::add", binary()},
    {"aten::addcdiv", ternary(3)},
    {"aten::addcmul", ternary(3)},
    {"aten::addmm", part(addmm)},
    {"aten::all", each(reduction, 1)},
    {"aten::amax", each(reduction, 1)},
    {"aten::amin", each(reduction, 1)},
    {"aten::any", each(reduction, 1)},
    {"aten::argmax", each(reduction, 1)},
    {"aten::argmin", each(reduction, 1)},
    {"aten::avg_pool1d", part(avg_pool)},
    {"aten::avg_pool2d", part(avg_pool)},
    {"aten::avg_pool3d", part(avg_pool)},
    {"aten::baddbmm", part(baddbmm)},
    {"aten::bitwise_and", binary()},
    {"aten::bitwise_not", unary()},
    {"aten::bitwise_or", binary()},
    {"aten::bmm", part(bmm)},
    {"aten::cat", part(concatenation)},
    {"aten::ceil", unary()},
    {"aten::clamp", unary(2)},
    {"aten::clamp_max", unary()},
    {"aten::clamp_min", unary()},
    {"aten::convolution", whole(convolution)},
    {"aten::convolution_backward", whole(convolution_backward)},
    {"aten::copy", part(copy)},
    {"aten::cos", unary()},
    {"aten::cudnn_batch_norm", each(batch_norm, 5)},
    {"aten::cudnn_batch_norm_backward", each(norm_backward, 9)},
    {"aten::cudnn_convolution", whole(cudnn_convolution)},
    {"aten::cudnn_convolution_backward", whole(cudnn_convolution_backward)},
    {"aten::cumsum", unary()},
    {"aten::div", binary()},
    {"aten::embedding", part(embedding)},
    {"aten::embedding_dense_backward", part(embedding_backward)},
    {"aten::eq", each(comparison, 1, 2)},
    {"aten::erf", unary()},
    {"aten::exp", unary()},
    {"aten::fill", part(fill)},
    {"aten::floor", unary()},
    {"aten::gather", part(gather)},
    {"aten::ge", each(comparison, 1, 2)},
    {"aten::gelu", unary(5)},
    {"aten::gelu_backward", binary(11)},
    {"aten::gt", each(comparison, 1, 2)},
    {"aten::hardtanh", unary(2)},
    {"aten::index_add", part(scatter_add)},
    {"aten::index_select", part(index_select)},
    {"aten::isnan", each(comparison, 1, 1)},
    {"aten::le", each(comparison, 1, 2)},
    {"aten::leaky_relu", unary(2)},
    {"aten::leaky_relu_backward", binary(2)},
    {"aten::lerp", ternary(3)},
    {"aten::linear", part(linear)},
    {"aten::log", unary()},
    {"aten::log2", unary()},
    {"aten::logical_and", each(comparison, 1, 2)},
    {"aten::logical_not", each(comparison, 1, 1)},
    {"aten::logical_or", each(comparison, 1, 2)},
    {"aten::lt", each(comparison, 1, 2)},
    {"aten::masked_fill", binary(0)},
    {"aten::matmul", part(matmul)},
    {"aten::max", each(reduction, 1)},
    {"aten::max_pool2d_with_indices", part(max_pool)},
    {"aten::max_pool2d_with_indices_backward", part(max_pool_backward)},
    {"aten::max_pool3d_with_indices", part(max_pool)},
    {"aten::maximum", binary()},
    {"aten::mean", each(reduction, 1)},
    {"aten::min", each(reduction, 1)},
    {"aten::minimum", binary()},
    {"aten::miopen_batch_norm", each(batch_norm, 5)},
    {"aten::miopen_batch_norm_backward", each(norm_backward, 9)},
    {"aten::miopen_convolution", whole(cudnn_convolution)},
    {"aten::mkldnn_convolution", whole(mkldnn_convolution)},
    {"aten::mm", part(mm)},
    {"aten::mul", binary()},
    {"aten::nan_to_num", unary()},
    {"aten::native_batch_norm", each(batch_norm, 5)},
    {"aten::native_batch_norm_backward", each(norm_backward, 9)},
    {"aten::native_dropout", part(dropout)},
    {"aten::native_dropout_backward", binary(2)},
    {"aten::native_group_norm", each(group_norm, 5)},
    {"aten::native_layer_norm", each(layer_norm, 5)},
    {"aten::native_layer_norm_backward", each(norm_backward, 9)},
    {"aten::ne", each(comparison, 1, 2)},
    {"aten::neg", unary()},
    {"aten::norm", each(reduction, 2)},
    {"aten::pow", binary()},
    {"aten::prod", each(reduction, 1)},
    {"aten::reciprocal", unary()},
    {"aten::relu", unary()},
    {"aten::remainder", binary()},
    {"aten::round", unary()},
    {"aten::rsqrt", unary()},
    {"aten::rsub", binary()},
    {"aten::scaled_dot_product_attention", part(math_attention)},
    {"aten::scatter", part(scatter)},
    {"aten::scatter_add", part(scatter_add)},
    {"aten::sgn", unary()},
    {"aten::sigmoid", unary()},
    {"aten::sigmoid_backward", binary()},
    {"aten::sign", unary()},
    {"aten::silu", unary()},
    {"aten::silu_backward", binary(5)},
    {"aten::sin", unary()},
    {"aten::softplus", unary(3)},
    {"aten::sqrt", unary()},
    {"aten::std", each(reduction, 3)},
    {"aten::sub", binary()},
    {"aten::sum", each(reduction, 1)},
    {"aten::tanh", unary()},
    {"aten::tanh_backward", binary(3)},
    {"aten::threshold", unary()},
    {"aten::threshold_backward", binary()},
    {"aten::tril", unary(0)},
    {"aten::triu", unary(0)},
    {"aten::var", each(reduction, 3)},
    {"aten::var_mean", each(reduction, 4)},
    {"aten::where", ternary(0)},
    {"aten::zero", part(fill)},
    {"flash_attn::_flash_attn_forward", whole(flash_attn_package)},
    {"sgl_kernel::fused_add_rmsnorm", each(add_rms_norm, 5)},
    {"sgl_kernel::rmsnorm", each(rms_norm_out, 4)},
    {"sgl_kernel::silu_and_mul", each(gated_activation, 5)},
    {"vllm::rocm_unquantized_gemm", part(linear)},
});
static_assert(std::ranges::is_sorted(kFormulas, {}, &Named::name));

}  // namespace

OpFormula op_formula(std::string_view name) {
  if (is_inductor_name(name)) return part(generated);
  if (name.ends_with('_')) name.remove_suffix(1);
  const auto at = std::ranges::lower_bound(kFormulas, name, {}, &Named::name);
  return at != kFormulas.end() && at->name == name ? at->formula : OpFormula();
}

}  // namespace fathom
