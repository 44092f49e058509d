// unfused-attention: the scores of attention are written and read again.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "analysis/roofline/op_cost.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace unfused_attention_rule {
namespace {

constexpr std::string_view kDoc =
    "Unfused attention (a GEMM, a softmax, a GEMM as separate operators) writes and reads the "
    "matrix of scores, which grows with the square of the sequence. Fused kernels (flash, "
    "memory-efficient, cuDNN) never write it, and their backward pass computes it again. Fires "
    "when softmax operators and their gradients between two batched GEMMs, with the operators in "
    "between, take at least 2 % of the step; the second GEMM must multiply as many elements as the "
    "softmax has. Source: Dao et al., FlashAttention; PyTorch's scaled_dot_product_attention.";

constexpr double kLeastPercent = 2.0;
/// How many operators may lie between a product and the softmax: scale, mask, dropout, views.
constexpr std::size_t kReach = 12;
/// What a fused kernel saves of the operators between the products, and of the products, which no
/// longer write and read the scores. FlashAttention's own measurement is far more: 41.7 ms become
/// 7.3 ms, products included (its figure 2).
constexpr double kSaved = 0.8;
constexpr double kSavedOfProducts = 0.25;
/// The same at best.
constexpr double kSavedAtBest = 1.0;
constexpr double kSavedOfProductsAtBest = 0.5;

bool is_batched_product(std::string_view name) {
  return name == "aten::bmm" || name == "aten::baddbmm";
}
constexpr std::string_view kSoftmax = "aten::_softmax";
bool is_softmax(std::string_view name) {
  return name == kSoftmax || name == "aten::_softmax_backward_data";
}
bool is_fused(std::string_view name) {
  return name.find("scaled_dot_product") != std::string_view::npos ||
         name.find("_flash_attention") != std::string_view::npos;
}

/// The operators of one thread that have work of their own, in order, without what they call.
std::vector<SliceId> leaves(const RuleContext& rules, const Nesting::Thread& thread,
                            const std::vector<bool>& works) {
  std::vector<SliceId> out;
  for (const SliceId slice : thread.slices) {
    if (rules.trace().kind(slice) == SliceKind::cpu_op && works[slice.row()]) out.push_back(slice);
  }
  return out;
}

/// Operators of attention, by slice.
struct Parts {
  std::vector<bool> between;   // The softmax and what lies from it to the products around it.
  std::vector<bool> products;  // Those products, in the forward pass.
};

/// The operator of the forward pass that a slice of the backward pass belongs to, or invalid.
SliceId forward_of(const RuleContext& rules, const FromOutside& notes, SliceId slice) {
  const auto has_forward = [&](SliceId at) { return rules.sites.forward_of(at).valid(); };
  const SliceId at = innermost_around(notes, rules.context.nesting().parent, slice, has_forward);
  return at.valid() ? rules.sites.forward_of(at) : SliceId();
}

/// Does the product behind a softmax multiply its result: a tensor of as many elements? A softmax
/// beside products, of a router or of a mask, is no attention.
bool multiplies(const Trace& trace, SliceId product, SliceId softmax) {
  const std::optional<OpArguments> scores = arguments_of(trace, softmax);
  const std::optional<OpArguments> operands = arguments_of(trace, product);
  if (!scores || !operands || scores->tensors().empty()) return true;
  const double elements = scores->tensors().front().elements();
  return std::ranges::any_of(operands->tensors(), [elements](const TensorArgument& operand) {
    return operand.elements() == elements;
  });
}

void collect(const RuleContext& rules, const std::vector<SliceId>& ops, const NameSet& products,
             const NameSet& softmax, const NameSet& fused, Parts& parts) {
  const Trace& trace = rules.trace();
  const auto has = [&](const NameSet& names, std::size_t i) {
    return names.contains(trace.slices.name[ops[i].row()]);
  };
  FromOutside forwards;
  forwards.resize(trace.slices.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!has(softmax, i) || !counts(rules, ops[i])) continue;
    const bool gradient = trace.name(ops[i]) != kSoftmax;
    if (enclosing(rules, gradient ? forward_of(rules, forwards, ops[i]) : ops[i], fused).valid())
      continue;
    std::size_t first = i;
    while (first > 0 && i - first < kReach && !has(products, first)) --first;
    std::size_t last = i;
    while (last + 1 < ops.size() && last - i < kReach && !has(products, last)) ++last;
    if (!has(products, first) || !has(products, last)) continue;
    if (!multiplies(trace, ops[last], ops[i])) continue;
    for (std::size_t at = first + 1; at < last; ++at) parts.between[ops[at].row()] = true;
    // A fused kernel's backward pass computes the scores again: its GEMMs save nothing.
    if (gradient) continue;
    parts.products[ops[first].row()] = true;
    parts.products[ops[last].row()] = true;
  }
}

/// A call that computes the same: with the mask or bias that is added, the dropout, the scale. It
/// is never told to be causal, for a mask may be any.
Fix fix_of(const Trace& trace, const std::vector<SliceId>& between) {
  bool masks = false;
  bool drops = false;
  for (const SliceId op : between) {
    const std::string_view name = trace.name(op);
    masks = masks || name.starts_with("aten::add") || name.starts_with("aten::masked_fill") ||
            name == "aten::where" || name.starts_with("aten::sub");
    drops = drops || name.find("dropout") != name.npos;
  }
  std::string before = "p = (q @ k.transpose(-2, -1) * scale" +
                       std::string(masks ? " + mask" : "") + ").softmax(-1); out = ";
  before += drops ? "F.dropout(p, rate, training) @ v" : "p @ v";
  std::string after = "out = F.scaled_dot_product_attention(q, k, v, scale=scale";
  if (masks) after += ", attn_mask=mask";
  if (drops) after += ", dropout_p=rate if training else 0.0";
  return {
      .text =
          std::string("Use scaled_dot_product_attention (models of Hugging Face: "
                      "attn_implementation=\"sdpa\")") +
          (masks ? ", with the same mask or bias as attn_mask" : "") +
          ". Caveats: sums are rounded in another order; the fastest kernels take 16-bit floats "
          "and not every mask; who needs the scores themselves does not get them.",
      .before = std::move(before),
      .after = after + ")"};
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet softmax(trace, is_softmax);
  const NameSet products(trace, is_batched_product);
  const NameSet fused(trace, is_fused);
  if (!softmax.any() || !products.any()) return std::vector<Finding>{};
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  // Without a device the operators that compute something: those whose cost is known by their name,
  // and the random numbers of dropout.
  const NameSet priced(trace, [](std::string_view name) {
    return bool(op_formula(name)) || name.starts_with("aten::bernoulli");
  });
  std::vector<bool> works(trace.slices.size());
  for_each_work(rules, [&](SliceId work, SliceId op) {
    if (!op.valid()) return;
    const bool computes =
        is_device_activity(trace.kind(work)) || priced.contains(trace.slices.name[op.row()]);
    if (computes) works[op.row()] = true;
  });
  Parts parts{std::vector<bool>(trace.slices.size()), std::vector<bool>(trace.slices.size())};
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    collect(rules, leaves(rules, thread, works), products, softmax, fused, parts);
  }
  Blamed blamed;
  Blamed multiplied;
  for_each_work(rules, [&](SliceId work, SliceId op) {
    if (!op.valid()) return;
    if (parts.between[op.row()]) blamed.add(rules, work, op);
    if (parts.products[op.row()]) multiplied.add(rules, work, op);
  });
  if (rules.percent(blamed.time) < kLeastPercent) return std::vector<Finding>{};
  Finding finding;
  finding.title = "Unfused attention: " + per_step(rules, blamed.time) + " between its GEMMs";
  finding.family = Family::memory_bandwidth;
  finding.weight = rules.percent(blamed.time) >= 10 ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::high;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, blamed,
                  count_text(static_cast<std::int64_t>(blamed.activities.size())) +
                      (rules.device >= 0 ? " kernels" : " operators") +
                      " of scale, mask, softmax and dropout between batched GEMMs"));
  if (multiplied.time > Duration{}) {
    finding.evidence.push_back(evidence_of(rules, multiplied,
                                           "the GEMMs around them take " +
                                               per_step(rules, multiplied.time) +
                                               ", of which a quarter, at best half, is saved: the "
                                               "scores are neither written nor read"));
  }
  finding.counter_evidence =
      "Fused kernels do not support every mask, bias and head size; short sequences get little "
      "faster.";
  finding.fix = fix_of(trace, blamed.ops);
  finding.verify = "fathom kernels TRACE --filter class=attention";
  const auto save = [&](const Blamed& part, double likely, double best) {
    for (const SliceId work : part.activities) {
      finding.claims.push_back(claim(rules, work, best));
      finding.edits.scale.emplace_back(work, static_cast<float>(1.0 - likely));
    }
  };
  save(blamed, kSaved, kSavedAtBest);
  save(multiplied, kSavedOfProducts, kSavedOfProductsAtBest);
  finding.assumption =
      "what lies between the GEMMs falls to a fifth, the GEMMs lose a quarter: the scores are "
      "neither written nor read";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace unfused_attention_rule

Rule unfused_attention() {
  return {.id = "unfused-attention",
          .title = "Unfused attention",
          .doc = unfused_attention_rule::kDoc,
          .check = unfused_attention_rule::check};
}

}  // namespace fathom
