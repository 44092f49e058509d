// Formulas of op_cost.h by what they are about. Each gives nothing where an argument is missing.
#pragma once

#include "analysis/roofline/op_cost.h"

namespace fathom::cost {

using Cost = std::optional<OpCost>;

// Matrix multiplications: 2·M·N·K, plus M·N for a bias or an addend.
Cost mm(const OpArguments& arguments, PerElement);
Cost addmm(const OpArguments& arguments, PerElement);
Cost bmm(const OpArguments& arguments, PerElement);
Cost baddbmm(const OpArguments& arguments, PerElement);
Cost scaled_mm(const OpArguments& arguments, PerElement);
/// x @ w.T, with a bias where there is a third tensor; x may have any dimensions.
Cost linear(const OpArguments& arguments, PerElement);
/// Two operands of two dimensions or more; leading ones broadcast.
Cost matmul(const OpArguments& arguments, PerElement);

// Convolutions: 2 · |output| · |one filter|, plus |output| for a bias. Backward: the gradients of
// the input and of the weight cost as much as forward each.
Cost convolution(const OpArguments& arguments, PerElement);
Cost cudnn_convolution(const OpArguments& arguments, PerElement);
Cost mkldnn_convolution(const OpArguments& arguments, PerElement);
Cost convolution_backward(const OpArguments& arguments, PerElement);
Cost cudnn_convolution_backward(const OpArguments& arguments, PerElement);
Cost max_pool(const OpArguments& arguments, PerElement);
Cost avg_pool(const OpArguments& arguments, PerElement);
Cost max_pool_backward(const OpArguments& arguments, PerElement);

// Attention: 2·B·H·Nq·Nk·(Dqk + Dv), of which a causal mask leaves half where Nq = Nk; backward two
// and a half times that, with the products computed again. The formula that FlashAttention's own
// benchmark uses.
Cost flash_attention(const OpArguments& arguments, PerElement);
Cost efficient_attention(const OpArguments& arguments, PerElement);
Cost cudnn_attention(const OpArguments& arguments, PerElement);
Cost math_attention(const OpArguments& arguments, PerElement);
Cost flash_attention_backward(const OpArguments& arguments, PerElement);
Cost efficient_attention_backward(const OpArguments& arguments, PerElement);
Cost cudnn_attention_backward(const OpArguments& arguments, PerElement);
/// As called by the flash-attn package and below torch's own: [batch, length, heads, width].
Cost flash_attn_package(const OpArguments& arguments, PerElement);
Cost flash_attention_inner(const OpArguments& arguments, PerElement);

// Element by element. `per.inputs` tensors are read (a further one is the output), one of their
// broadcast shape and widest type is written.
Cost elementwise(const OpArguments& arguments, PerElement per);
Cost comparison(const OpArguments& arguments, PerElement per);
/// `flops` per element of the output; nearest neighbours have none, and only those are read.
Cost upsample(const OpArguments& arguments, PerElement per);
/// `flops` per element of the gradient that comes in.
Cost upsample_backward(const OpArguments& arguments, PerElement per);
Cost copy(const OpArguments& arguments, PerElement);
Cost fill(const OpArguments& arguments, PerElement);
Cost concatenation(const OpArguments& arguments, PerElement);
Cost dropout(const OpArguments& arguments, PerElement);
/// Output and a gate beside its value in one tensor of twice the width.
Cost gated_activation(const OpArguments& arguments, PerElement per);
/// Kernels that torch.compile generates: each tensor moved once; their arithmetic is not recorded.
Cost generated(const OpArguments& arguments, PerElement);

// Row by row.
Cost reduction(const OpArguments& arguments, PerElement per);
Cost softmax(const OpArguments& arguments, PerElement per);
Cost softmax_backward(const OpArguments& arguments, PerElement per);
Cost layer_norm(const OpArguments& arguments, PerElement per);
Cost batch_norm(const OpArguments& arguments, PerElement per);
Cost group_norm(const OpArguments& arguments, PerElement per);
/// Reads all tensors; writes the gradients of the input and of each scale and shift.
Cost norm_backward(const OpArguments& arguments, PerElement per);
/// Gradient, input, mean, deviation, weight; `flops` for each element of the input.
Cost group_norm_backward(const OpArguments& arguments, PerElement per);
/// Gradient, input, shape, deviation, weight; `flops` with a weight.
Cost rms_norm_backward(const OpArguments& arguments, PerElement per);
/// Output, input, weight.
Cost rms_norm_out(const OpArguments& arguments, PerElement per);
/// Input and residual, both updated, weight.
Cost add_rms_norm(const OpArguments& arguments, PerElement per);

// By index: only the rows that are asked for are moved.
Cost embedding(const OpArguments& arguments, PerElement);
Cost embedding_backward(const OpArguments& arguments, PerElement);
Cost gather(const OpArguments& arguments, PerElement);
Cost index_select(const OpArguments& arguments, PerElement);
/// self, dim, index, source: adds to or overwrites parts of self.
Cost scatter_add(const OpArguments& arguments, PerElement);
Cost scatter(const OpArguments& arguments, PerElement);

// Optimizers, over lists of tensors.
/// All lists are read, the first is written.
Cost foreach (const OpArguments& arguments, PerElement per);
Cost foreach_copy(const OpArguments& arguments, PerElement);
Cost foreach_fill(const OpArguments& arguments, PerElement);
/// All lists but the gradients (the second) are read and written.
Cost fused_optimizer(const OpArguments& arguments, PerElement per);

}  // namespace fathom::cost
