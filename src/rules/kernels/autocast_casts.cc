// autocast-casts: mixed precision converts operands between 32 and 16 bits again and again.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/util/json_list.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace autocast_casts_rule {
namespace {

constexpr std::string_view kDoc =
    "torch.autocast converts the operands of matrix multiplications and convolutions to 16 bits: "
    "weights each "
    "time that an autocast region is left and entered again, and activations wherever an operator "
    "of 32 bits stands between; the backward pass converts gradients back. Found are copies "
    "between 32-bit and 16-bit floats inside of aten::_to_copy that a matrix multiplication or "
    "convolution "
    "called, which "
    "is how autocast looks in a recording, and those of the node ToCopyBackward0. Types are those "
    "of aten::copy_, else what the kernel's name shows. A weight is what has the shape of the "
    "multiplication's second operand. Fires where they take 5 % of the step. Likely all of it is "
    "saved in inference, where the model can be converted once; in training half: weights that are "
    "kept in 16 bits need no conversion, and a compiler joins that of activations with what is "
    "beside it. Sources: PyTorch's documentation of "
    "torch.autocast (weight cache) and its tuning guide (mixed precision).";

constexpr double kLeastPercent = 5.0;

constexpr auto kProducts = std::to_array<std::string_view>({"aten::linear",
                                                            "aten::matmul",
                                                            "aten::mm",
                                                            "aten::bmm",
                                                            "aten::addmm",
                                                            "aten::baddbmm",
                                                            "aten::einsum",
                                                            "aten::conv1d",
                                                            "aten::conv2d",
                                                            "aten::conv3d",
                                                            "aten::convolution",
                                                            "aten::_convolution",
                                                            "aten::conv_transpose1d",
                                                            "aten::conv_transpose2d",
                                                            "aten::conv_transpose3d",
                                                            "aten::scaled_dot_product_attention",
                                                            "aten::addbmm",
                                                            "aten::lstm_cell",
                                                            "aten::gru_cell",
                                                            "aten::chain_matmul",
                                                            "aten::prelu"});

bool is_product(std::string_view name) {
  return std::ranges::find(kProducts, name) != kProducts.end();
}
bool converts_gradients(std::string_view name) {
  return name.find("ToCopyBackward0") != std::string_view::npos;
}

bool is_narrow(NumberType type) { return type == NumberType::fp16 || type == NumberType::bf16; }

/// Does the copy convert between 32 and 16 bits?
bool converts(const Trace& trace, SliceId work, SliceId copy) {
  if (const std::optional<OpArguments> arguments = arguments_of(trace, copy)) {
    const std::vector<TensorArgument>& tensors = arguments->tensors();
    if (tensors.size() < 2) return false;
    const NumberType to = tensors[0].type;
    const NumberType from = tensors[1].type;
    return (is_narrow(to) && from == NumberType::fp32) ||
           (to == NumberType::fp32 && is_narrow(from));
  }
  // Without types: the kernels that write 16 bits are named so.
  const std::string_view name = trace.name(work);
  return name.find("bfloat16_copy_kernel") != name.npos ||
         name.find("float16_copy_kernel") != name.npos;
}

/// The shape of argument `at`, as recorded, or "".
std::string_view shape(const Trace& trace, SliceId op, std::size_t at) {
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->shapes.valid()) return {};
  const std::vector<std::string_view> shapes = json_elements(trace.text(signature->shapes));
  return at < shapes.size() ? shapes[at] : std::string_view();
}

struct Found {
  Blamed casts;  // Without a device with what is called for them.
  std::size_t count = 0;
  Duration weights{};
  std::size_t of_weights = 0;
  Duration gradients{};
};

Found look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet copies(trace, [](std::string_view name) { return name == "aten::copy_"; });
  const NameSet casts(trace, [](std::string_view name) { return name == "aten::_to_copy"; });
  const NameSet to(trace, [](std::string_view name) { return name == "aten::to"; });
  const NameSet products(trace, is_product);
  const auto called = [&](SliceId cast, const NameSet& names) {
    const SliceId around = rules.context.nesting().parent[cast.row()];
    return around.valid() && names.contains(trace.slices.name[around.row()]) ? around : cast;
  };
  const NameSet gradients(trace, converts_gradients);
  Found found;
  if (!casts.any() || (!products.any() && !gradients.any())) return found;
  for_each_work(rules, [&](SliceId work, SliceId op) {
    if (!op.valid() || !copies.contains(trace.slices.name[op.row()])) return;
    const SliceId cast = enclosing(rules, op, casts);
    if (!cast.valid() || !converts(trace, work, op)) return;
    const SliceId product = enclosing(rules, cast, products);
    const bool back = !product.valid() && enclosing(rules, cast, gradients).valid();
    if (!product.valid() && !back) return;
    const Duration before = found.casts.time;
    ++found.count;
    if (rules.device >= 0) {
      found.casts.add(rules, work, op);
    } else {
      for (const SliceId inside : tree(rules, called(cast, to))) {
        found.casts.add(rules, inside, inside);
      }
    }
    const Duration time = found.casts.time - before;
    const std::string_view weight = product.valid() ? shape(trace, product, 1) : "";
    if (!weight.empty() && weight == shape(trace, op, 0)) {
      found.weights += time;
      ++found.of_weights;
    }
    if (back) found.gradients += time;
  });
  return found;
}

Fix fix_of(bool training, const std::string& device) {
  const std::string autocast = "with torch.autocast('" + device + "', dtype=torch.bfloat16): ";
  if (!training) {
    return {.text =
                "Convert the model once, and its input: then nothing is converted in each pass. "
                "Caveats: bf16 keeps 7 bits of mantissa, fp16 overflows above 65504; normalisation "
                "and softmax then run in 16 bits, too: compare the results.",
            .before = autocast + "y = model(x)",
            .after = "model = model.to(torch.bfloat16)  # once\ny = model(x.to(torch.bfloat16))"};
  }
  return {.text =
              "Enter autocast once for the whole forward pass, so that each weight is converted "
              "once (cache_enabled=True, the default); let torch.compile join what is left with "
              "its neighbours; or keep weights in bf16, with an optimizer that holds 32-bit copies "
              "(FSDP's MixedPrecision does). Caveats: weights in bf16 alone lose small updates; a "
              "larger batch converts the same weights for more samples.",
          .before = "for block in blocks:\n    " + autocast + "x = block(x)",
          .after = "model = torch.compile(model)\n" + autocast + "x = model(x)"};
}

Outcome check(const RuleContext& rules) {
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  const Found found = look(rules);
  if (rules.percent(found.casts.time) < kLeastPercent) return std::vector<Finding>{};
  const bool training = is_training(rules);
  Finding finding;
  finding.title = "Autocast converts between 32 and 16 bits: " + per_step(rules, found.casts.time);
  finding.family = Family::memory_bandwidth;
  finding.weight = weight_of(rules, found.casts.time, 10, 20);
  finding.confidence = Confidence::medium;
  finding.effort = training ? Effort::refactoring : Effort::line;
  std::string text = counted_noun(found.count, rules.device >= 0 ? "kernel" : "operator") +
                     " that " + (found.count == 1 ? "copies" : "copy") +
                     " from one type to the other";
  if (found.of_weights > 0) {
    text += ", " + per_step(rules, found.weights) + " of that weights, which are the same in all " +
            (training ? "passes of a step" : "passes");
  }
  if (found.gradients > Duration{})
    text += ", " + per_step(rules, found.gradients) + " gradients on their way back";
  finding.evidence.push_back(evidence_of(rules, found.casts, std::move(text)));
  finding.counter_evidence =
      "What 16 bits save in matrix multiplications may be much more than this: compare with 32 "
      "bits before "
      "giving up mixed precision.";
  finding.fix = fix_of(training, rules.device < 0 ? "cpu" : "cuda");
  finding.verify = "fathom ops TRACE --filter name=aten::_to_copy --group-by shape";
  claim_blamed(rules, found.casts, 1.0, finding);
  for (auto& [activity, left] : finding.edits.scale) left = training ? 0.5F : 0.0F;
  finding.assumption = training ? "half of the conversions go: those of weights, or those that a "
                                  "compiler joins"
                                : "a model that is converted once converts nothing in a pass";
  finding.pessimism = 0.4;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace autocast_casts_rule

Rule autocast_casts() {
  return {.id = "autocast-casts",
          .title = "Conversions of mixed precision",
          .doc = autocast_casts_rule::kDoc,
          .check = autocast_casts_rule::check};
}

}  // namespace fathom
