// Cost of scaled dot-product attention.
#include <algorithm>

#include "analysis/roofline/op_formulas.h"

namespace fathom::cost {
namespace {

/// Which dimension of a tensor of four holds what.
struct Layout {
  std::size_t heads, length;
};
constexpr Layout kHeadsFirst{.heads = 1, .length = 2};   // [batch, heads, length, width]
constexpr Layout kLengthFirst{.heads = 2, .length = 1};  // [batch, length, heads, width]

bool four(const TensorArgument* tensor) { return tensor != nullptr && tensor->dims.size() == 4; }

/// Pairs of a query and a key that a causal mask leaves: below the diagonal from the upper left.
/// N²/2 for a square, as FlashAttention counts.
double causal_pairs(double queries, double keys) {
  if (queries <= keys) return queries * queries / 2;
  return keys * keys / 2 + (queries - keys) * keys;
}

struct Operands {
  const TensorArgument* query;
  const TensorArgument* key;
  const TensorArgument* value;
};

/// Query, key and value from argument `first` on.
std::optional<Operands> operands(const OpArguments& arguments, std::size_t first) {
  const Operands found{arguments.tensor(first), arguments.tensor(first + 1),
                       arguments.tensor(first + 2)};
  if (!four(found.query) || !four(found.key) || !four(found.value)) return std::nullopt;
  return found;
}

/// Floating-point operations of both products. With grouped queries each key serves several heads.
double products(const Operands& of, Layout layout, bool causal) {
  const double queries = of.query->dim(layout.length);
  const double keys = of.key->dim(layout.length);
  const double pairs = causal ? causal_pairs(queries, keys) : queries * keys;
  return 2 * of.query->dim(0) * of.query->dim(layout.heads) * pairs *
         (of.query->dim(3) + of.value->dim(3));
}

double output_bytes(const Operands& of) {
  return of.query->bytes() / std::max(1.0, of.query->dim(3)) * of.value->dim(3);
}

Cost forward(const OpArguments& arguments, Layout layout, bool causal) {
  const auto of = operands(arguments, 0);
  if (!of) return std::nullopt;
  return OpCost{
      .flops = products(*of, layout, causal),
      .bytes = of->query->bytes() + of->key->bytes() + of->value->bytes() + output_bytes(*of),
      .type = of->query->type,
      .matrix = true};
}

/// Gradient of the output, then query, key and value. Five products instead of two; reads the
/// output and its gradient beside the operands, writes three gradients.
Cost backward(const OpArguments& arguments, Layout layout, bool causal) {
  const auto of = operands(arguments, 1);
  if (!of) return std::nullopt;
  const double inputs = of->query->bytes() + of->key->bytes() + of->value->bytes();
  return OpCost{.flops = 2.5 * products(*of, layout, causal),
                .bytes = 2 * inputs + 2 * output_bytes(*of),
                .type = of->query->type,
                .matrix = true};
}

bool says_true(const OpArguments& arguments, std::size_t i) { return arguments.text(i) == "True"; }

}  // namespace

Cost flash_attention(const OpArguments& arguments, PerElement) {
  return forward(arguments, kHeadsFirst, says_true(arguments, 4));
}
Cost efficient_attention(const OpArguments& arguments, PerElement) {
  return forward(arguments, kHeadsFirst, says_true(arguments, 6));
}
Cost cudnn_attention(const OpArguments& arguments, PerElement) {
  return forward(arguments, kHeadsFirst, says_true(arguments, 6));
}
Cost math_attention(const OpArguments& arguments, PerElement) {
  return forward(arguments, kHeadsFirst, says_true(arguments, 5));
}
Cost flash_attention_backward(const OpArguments& arguments, PerElement) {
  return backward(arguments, kHeadsFirst, says_true(arguments, 11));
}
Cost efficient_attention_backward(const OpArguments& arguments, PerElement) {
  return backward(arguments, kHeadsFirst, says_true(arguments, 11));
}
Cost cudnn_attention_backward(const OpArguments& arguments, PerElement) {
  return backward(arguments, kHeadsFirst, says_true(arguments, 14));
}
Cost flash_attn_package(const OpArguments& arguments, PerElement) {
  return forward(arguments, kLengthFirst, says_true(arguments, 5));
}
Cost flash_attention_inner(const OpArguments& arguments, PerElement) {
  return forward(arguments, kLengthFirst, says_true(arguments, 8));
}

}  // namespace fathom::cost
