// Cost of matrix multiplication.
#include <algorithm>

#include "analysis/roofline/op_formulas.h"

namespace fathom::cost {
namespace {

/// One product of a batch: [m, k] by [k, n].
struct Product {
  double batch = 1;
  double m = 0;
  double n = 0;
  double k = 0;
};

/// `addend` may be nullptr.
Cost product_cost(const Product& product, const TensorArgument& left, const TensorArgument& right,
                  const TensorArgument* addend, double output_bytes) {
  const double outputs = product.batch * product.m * product.n;
  OpCost cost{.type = left.type, .matrix = true};
  cost.flops = 2 * outputs * product.k;
  cost.bytes = left.bytes() + right.bytes() + outputs * output_bytes;
  if (addend != nullptr) {
    cost.flops += outputs;
    cost.bytes += addend->bytes();
  }
  return cost;
}

/// Operands at `first` and the one after it, of `rank` dimensions; the addend before them, or none.
Cost product_at(const OpArguments& arguments, std::size_t first, std::size_t rank) {
  const TensorArgument* const left = arguments.tensor(first);
  const TensorArgument* const right = arguments.tensor(first + 1);
  if (left == nullptr || right == nullptr) return std::nullopt;
  if (left->dims.size() != rank || right->dims.size() != rank) return std::nullopt;
  const Product product{.batch = rank == 3 ? left->dim(0) : 1,
                        .m = left->dim(rank - 2),
                        .n = right->dim(rank - 1),
                        .k = left->dim(rank - 1)};
  return product_cost(product, *left, *right, first == 1 ? arguments.tensor(0) : nullptr,
                      left->item_bytes());
}

}  // namespace

Cost mm(const OpArguments& arguments, PerElement) { return product_at(arguments, 0, 2); }
Cost addmm(const OpArguments& arguments, PerElement) { return product_at(arguments, 1, 2); }
Cost bmm(const OpArguments& arguments, PerElement) { return product_at(arguments, 0, 3); }
Cost baddbmm(const OpArguments& arguments, PerElement) { return product_at(arguments, 1, 3); }

Cost scaled_mm(const OpArguments& arguments, PerElement) {
  Cost cost = product_at(arguments, 0, 2);
  if (!cost) return cost;
  // The output of 8-bit operands has 16 bits.
  const TensorArgument& left = *arguments.tensor(0);
  const TensorArgument& right = *arguments.tensor(1);
  if (left.element_bytes == 1) cost->bytes += left.dim(0) * right.dim(1);
  return cost;
}

Cost linear(const OpArguments& arguments, PerElement) {
  const TensorArgument* const input = arguments.tensor(0);
  const TensorArgument* const weight = arguments.tensor(1);
  if (input == nullptr || weight == nullptr) return std::nullopt;
  if (input->dims.empty() || weight->dims.size() != 2 || input->dims.back() == 0) {
    return std::nullopt;
  }
  const double k = static_cast<double>(input->dims.back());
  const Product product{.m = input->elements() / k, .n = weight->dim(0), .k = k};
  return product_cost(product, *input, *weight, arguments.tensor(2), input->item_bytes());
}

Cost matmul(const OpArguments& arguments, PerElement) {
  const TensorArgument* const left = arguments.tensor(0);
  const TensorArgument* const right = arguments.tensor(1);
  if (left == nullptr || right == nullptr) return std::nullopt;
  const std::size_t left_rank = left->dims.size();
  const std::size_t right_rank = right->dims.size();
  if (left_rank < 2 || right_rank < 2) return std::nullopt;
  Product product{.m = left->dim(left_rank - 2),
                  .n = right->dim(right_rank - 1),
                  .k = left->dim(left_rank - 1)};
  for (std::size_t back = 3; back <= std::max(left_rank, right_rank); ++back) {
    const double of_left = back <= left_rank ? left->dim(left_rank - back) : 1;
    const double of_right = back <= right_rank ? right->dim(right_rank - back) : 1;
    product.batch *= std::max(of_left, of_right);
  }
  return product_cost(product, *left, *right, nullptr, left->item_bytes());
}

}  // namespace fathom::cost
