// bias-before-norm: convolutions add a bias in vain.
#include <algorithm>
#include <string>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/batch_norms.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace bias_before_norm_rule {
namespace {

constexpr std::string_view kDoc =
    "Batch normalisation subtracts the mean over the batch, and with it any bias that "
    "the layer before it has added. The bias costs an addition forward, a reduction "
    "backward, and an optimizer update. Fires when a convolution with a bias is followed "
    "by a batch normalisation, and the additions take at least 0.3 % of the step. "
    "Source: PyTorch's performance tuning guide; TorchTidy's "
    "Conv2dBiasFollowedByBatchNorm2d.";

constexpr double kLeastPercent = 0.3;
constexpr std::size_t kBias = 2;  // Argument of convolutions that is the bias.

bool has_bias(const Trace& trace, SliceId op) {
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->shapes.valid()) return false;
  const std::vector<std::string_view> shapes = json_elements(trace.text(signature->shapes));
  if (shapes.size() <= kBias) return false;
  const auto sizes = json_integers(shapes[kBias]);
  return sizes && sizes->size() == 1;
}

struct Found {
  bool normalised = false;            // Is any convolution followed by a normalisation?
  std::vector<SliceId> convolutions;  // Of these, those with a bias; ascending.
  SliceId norm;                       // One that follows.
};

Found look(const RuleContext& rules) {
  Found found;
  for (const NormalisedConvolution& pair : normalised_convolutions(rules)) {
    found.normalised = true;
    if (!has_bias(rules.trace(), pair.convolution)) continue;
    found.convolutions.push_back(pair.convolution);
    found.norm = pair.norm;
  }
  std::ranges::sort(found.convolutions);
  return found;
}

/// Does the normalisation use statistics that it has learnt, not the batch's? Then it does not take
/// the bias away.
bool uses_learnt(const RuleContext& rules, SliceId norm) {
  return !trains(rules.trace(), norm).value_or(is_training(rules));
}

/// The module of a convolution: "Conv2d".
std::string module_of(std::string_view op) {
  return "Conv" + std::string(op.substr(op.size() - 2));
}

Fix fix_of(const RuleContext& rules, const Found& found) {
  const std::string module = module_of(rules.trace().name(found.convolutions.front()));
  const std::string norm = "BatchNorm" + module.substr(4);
  if (uses_learnt(rules, found.norm)) {
    return {.text =
                "Fold the normalisation into the convolution, bias and all: one operator is left "
                "of three. Caveat: for inference only; sums are rounded in another order.",
            .before = "y = norm(conv(x))",
            .after = "conv = torch.nn.utils.fusion.fuse_conv_bn_eval(conv, norm)\ny = conv(x)"};
  }
  return {.text =
              "Leave the bias out before batch normalisation. Caveat: where a trained model is "
              "loaded, subtract its bias from the normalisation's running mean first.",
          .before = "nn." + module + "(64, 128, 3), nn." + norm + "(128)",
          .after = "nn." + module + "(64, 128, 3, bias=False), nn." + norm + "(128)"};
}

/// Is the slice inside of one of these?
bool is_inside(const RuleContext& rules, const FromOutside& notes, SliceId slice,
               const std::vector<SliceId>& convolutions) {
  const auto is_it = [&](SliceId at) { return std::ranges::binary_search(convolutions, at); };
  return innermost_around(notes, rules.context.nesting().parent, slice, is_it).valid();
}

bool is_addition(std::string_view name) { return name == "aten::add_" || name == "aten::add"; }

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Found pairs = look(rules);
  const std::vector<SliceId>& found = pairs.convolutions;
  if (found.empty()) {
    if (!has_shapes(trace) && pairs.normalised) {
      return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
    }
    return std::vector<Finding>{};
  }
  const NameSet additions(trace, is_addition);
  FromOutside notes;
  notes.resize(trace.slices.size());
  Finding finding;
  Blamed blamed;
  if (rules.device >= 0) {
    for_each_activity(rules, [&](SliceId activity, SliceId op) {
      if (!op.valid() || !additions.contains(trace.slices.name[op.row()])) return;
      if (is_inside(rules, notes, op, found)) blamed.add(rules, activity, op);
    });
  }
  finding.title = count_text(static_cast<std::int64_t>(found.size() / rules.steps.size())) +
                  " convolutions per step add a bias that batch normalisation removes";
  finding.family = Family::memory_bandwidth;
  finding.weight = rules.percent(blamed.time) >= kLeastPercent ? Weight::warning : Weight::note;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(
      {.text = "aten::batch_norm follows a convolution with a bias",
       .slices = costliest(trace, found),
       .where = Interval{trace.slices.start[found.front().row()], trace.slices.end(found.front())},
       .location = rules.sites.of(found.front())});
  finding.counter_evidence =
      blamed.activities.empty()
          ? "No separate kernel adds the bias: the convolution does it, so little is saved."
          : "Only the additions are counted here, not the backward pass.";
  finding.fix = fix_of(rules, pairs);
  finding.verify = "fathom ops TRACE --group-by shape --filter 'name~conv'";
  claim_blamed(rules, blamed, 1.0, finding);
  finding.assumption = "the additions disappear";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace bias_before_norm_rule

Rule bias_before_norm() {
  return {.id = "bias-before-norm",
          .title = "A bias that batch normalisation takes away again",
          .doc = bias_before_norm_rule::kDoc,
          .check = bias_before_norm_rule::check};
}

}  // namespace fathom
