// dequantised-weights: weights of 8 bits are converted to floats in each pass.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/user_ops.h"
#include "rules/rule.h"

namespace fathom {
namespace dequantised_weights_rule {
namespace {

constexpr std::string_view kDoc =
    "A model whose weights are kept in 8 bits to save memory, and converted to floats wherever "
    "they "
    "are used, moves each weight several times in each pass: the conversion, the multiplication by "
    "its scale, and the matrix multiplication itself. Found are aten::to and aten::dequantize from "
    "8-bit integers to floats, with the products, sums and differences of the same shape right "
    "after them. Their shape must be that of the second operand of a matrix multiplication or "
    "convolution, as it is or transposed, and they must come equally often in each step: images of "
    "8 bits are no weights. Fires from 5 % of the step; needs shapes. Sources: PyTorch's "
    "documentation of quantisation; torchao (weight-only quantisation needs a kernel or a compiler "
    "that joins the conversion with the multiplication).";

constexpr double kLeastPercent = 5.0;
/// Scale and zero point: operators after a conversion that belong to it.
constexpr std::size_t kMostAfter = 3;

constexpr auto kConverting = std::to_array<std::string_view>(
    {"aten::to", "aten::_to_copy", "aten::type_as", "aten::dequantize", "aten::copy_"});
constexpr auto kScaling =
    std::to_array<std::string_view>({"aten::mul", "aten::mul_", "aten::sub", "aten::sub_",
                                     "aten::add", "aten::add_", "aten::div", "aten::div_"});

using Dims = std::vector<std::int64_t>;
using UserOpList = std::vector<UserOp>;

/// Which argument of a matrix multiplication or convolution is the weight; 0 where it is none.
std::size_t weight_argument(std::string_view name) {
  if (name == "aten::addmm") return 2;
  const bool product = name == "aten::linear" || name == "aten::matmul" || name == "aten::mm" ||
                       name == "aten::conv1d" || name == "aten::conv2d" || name == "aten::conv3d";
  return product ? 1 : 0;
}

bool is_float(NumberType type) {
  return type == NumberType::fp32 || type == NumberType::fp16 || type == NumberType::bf16;
}

/// A weight that is converted: the operators that do it.
struct Conversion {
  Dims dims;
  const Step* step = nullptr;
  std::vector<SliceId> ops;
};

class Finder {
 public:
  explicit Finder(const RuleContext& rules)
      : rules_(rules),
        trace_(rules.trace()),
        converting_(trace_, kConverting),
        scaling_(trace_, kScaling) {}

  std::vector<Conversion> find() {
    std::vector<Conversion> found;
    if (!converting_.any()) return found;
    const UserOps user_ops(rules_);
    for (const Nesting::Thread& thread : rules_.context.nesting().work) {
      if (rules_.device < 0 && thread.track != rules_.accounting.main_thread) continue;
      look(user_ops.of(thread), found);
    }
    if (found.empty()) return found;
    const std::set<Dims> weights = weight_shapes();
    std::erase_if(found, [&](const Conversion& each) { return !weights.contains(each.dims); });
    drop_irregular(found);
    return found;
  }

 private:
  void look(const UserOpList& ops, std::vector<Conversion>& found) const {
    for (std::size_t at = 0; at < ops.size(); ++at) {
      if (!converting_.contains(trace_.slices.name[ops[at].op.row()])) continue;
      std::optional<Dims> dims = converted(ops[at].op);
      if (!dims) continue;
      Conversion made{.dims = std::move(*dims), .step = ops[at].step, .ops = {ops[at].op}};
      for (std::size_t after = at + 1; after < std::min(ops.size(), at + 1 + kMostAfter); ++after) {
        if (!scales(ops[after].op, made.dims)) break;
        made.ops.push_back(ops[after].op);
      }
      found.push_back(std::move(made));
    }
  }

  /// The shape of what an operator converts from 8-bit integers to floats.
  [[nodiscard]] std::optional<Dims> converted(SliceId op) const {
    for (const SliceId inside : tree(rules_, op)) {
      const std::string_view name = trace_.name(inside);
      const bool copy = name == "aten::copy_";
      if (!copy && name != "aten::dequantize") continue;
      const std::optional<OpArguments> arguments = arguments_of(trace_, inside);
      const TensorArgument* const from = arguments ? arguments->tensor(copy ? 1 : 0) : nullptr;
      const TensorArgument* const to = copy && arguments ? arguments->tensor(0) : nullptr;
      if (from == nullptr || from->type != NumberType::int8 || from->dims.size() < 2) continue;
      if (copy && (to == nullptr || !is_float(to->type))) continue;
      return from->dims;
    }
    return {};
  }

  [[nodiscard]] bool scales(SliceId op, const Dims& dims) const {
    if (!scaling_.contains(trace_.slices.name[op.row()])) return false;
    const std::optional<OpArguments> arguments = arguments_of(trace_, op);
    return arguments && std::ranges::any_of(arguments->tensors(), [&](const TensorArgument& each) {
             return each.dims == dims && is_float(each.type);
           });
  }

  /// Of the second operands of matrix multiplications and convolutions, each kind of call once.
  [[nodiscard]] std::set<Dims> weight_shapes() const {
    std::set<Dims> shapes;
    std::set<std::pair<StringId, const Signature*>> known;
    const NameSet products(trace_, [](std::string_view name) { return weight_argument(name) > 0; });
    for (std::size_t row = 0; row < trace_.slices.size() && products.any(); ++row) {
      const StringId name = trace_.slices.name[row];
      if (!products.contains(name)) continue;
      const Signature* const signature = signature_of(trace_, SliceId(row));
      if (signature == nullptr || !known.emplace(name, signature).second) continue;
      const std::optional<OpArguments> arguments = arguments_of(trace_, SliceId(row));
      const std::size_t argument = weight_argument(trace_.text(name));
      const TensorArgument* const weight =
          arguments && argument < arguments->size() ? arguments->tensor(argument) : nullptr;
      if (weight == nullptr || !is_float(weight->type)) continue;
      shapes.insert(weight->dims);
      if (weight->dims.size() == 2) shapes.insert({weight->dims[1], weight->dims[0]});
    }
    return shapes;
  }

  /// Leaves the shapes that are converted equally often in each counted step.
  void drop_irregular(std::vector<Conversion>& found) const {
    std::map<Dims, std::map<const Step*, std::size_t>> counts;
    for (const Conversion& each : found) ++counts[each.dims][each.step];
    const auto regular = [&](const std::map<const Step*, std::size_t>& by_step) {
      return by_step.size() == rules_.steps.size() &&
             std::ranges::all_of(
                 by_step, [&](const auto& step) { return step.second == by_step.begin()->second; });
    };
    std::erase_if(found, [&](const Conversion& each) { return !regular(counts.at(each.dims)); });
  }

  const RuleContext& rules_;
  const Trace& trace_;
  const NameSet converting_;
  const NameSet scaling_;
};

/// Their kernels and copies, or without a device their own time and that of what they call.
Blamed blame(const RuleContext& rules, const std::vector<Conversion>& found) {
  Blamed blamed;
  std::vector<bool> converts(rules.trace().slices.size());
  for (const Conversion& each : found) {
    for (const SliceId op : each.ops) {
      for (const SliceId inside : tree(rules, op)) {
        converts[inside.row()] = true;
        if (rules.device < 0) blamed.add(rules, inside, inside);
      }
    }
  }
  if (rules.device < 0) return blamed;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    if (op.valid() && converts[op.row()]) blamed.add(rules, activity, op);
  });
  return blamed;
}

Fix fix_of(const RuleContext& rules) {
  const std::string kernels =
      rules.device < 0
          ? "Where memory does not suffice for that: multiply in 8 bits "
            "(torch.ao.quantization.quantize_dynamic), which rounds the activations, too."
          : "Where memory does not suffice for that: a kernel that converts as it multiplies "
            "(torchao's int8_weight_only with torch.compile).";
  return {.text =
              "Convert each weight once, before the loop. Caveat: floats of 32 bits take four "
              "times the memory of 8-bit integers, those of 16 bits twice. " +
              kernels,
          .before = "def forward(self, x): return x @ (self.weight_int8.float() * self.scale).T",
          .after =
              "self.weight = weight_int8.float() * scale  # once\n"
              "def forward(self, x): return x @ self.weight.T"};
}

Outcome check(const RuleContext& rules) {
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  if (!has_shapes(rules.trace()))
    return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
  const std::vector<Conversion> found = Finder(rules).find();
  const Blamed blamed = blame(rules, found);
  if (found.empty() || rules.percent(blamed.time) < kLeastPercent) return std::vector<Finding>{};
  std::set<Dims> shapes;
  for (const Conversion& each : found) shapes.insert(each.dims);
  Finding finding;
  finding.title =
      "8-bit weights are converted to floats in each step: " + per_step(rules, blamed.time);
  finding.family = Family::memory_bandwidth;
  finding.weight = weight_of(rules, blamed.time);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, blamed,
                  counted_noun(found.size() / rules.steps.size(), "conversion") +
                      " per step, the same in all, of " + counted_noun(shapes.size(), "shape") +
                      " that matrix multiplications or convolutions take as weights"));
  finding.counter_evidence =
      "What is converted is known by its shape: another tensor of 8 bits with the shape of a "
      "weight "
      "would look the same.";
  finding.fix = fix_of(rules);
  finding.verify = "fathom ops TRACE --filter 'name~to_copy|dequantize' --group-by shape";
  claim_blamed(rules, blamed, 1.0, finding);
  finding.assumption = "weights are converted once, before the recorded steps";
  finding.pessimism = 0.4;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace dequantised_weights_rule

Rule dequantised_weights() {
  return {.id = "dequantised-weights",
          .title = "8-bit weights converted in each pass",
          .doc = dequantised_weights_rule::kDoc,
          .check = dequantised_weights_rule::check};
}

}  // namespace fathom
