// norm-folding: in inference, a batch normalisation right after a convolution.
#include <algorithm>
#include <optional>
#include <string>

#include "base/quantity_text.h"
#include "rules/common/batch_norms.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace norm_folding_rule {
namespace {

constexpr std::string_view kDoc =
    "In inference a batch normalisation scales and shifts each channel by fixed numbers, "
    "which can be folded into the weights and the bias of the convolution before it. Fires where "
    "no backward pass and no optimizer were recorded, a batch normalisation that does not train "
    "follows a convolution, and such normalisations take at least 1 % of the step. What an "
    "operator's arguments do not show, cuDNN's or MIOpen's kernel for inference "
    "does. Abstains where nothing shows whether they train. Source: PyTorch's tutorial on fusing "
    "convolutions and "
    "batch norms; torch.fx.experimental.optimization.";

constexpr double kLeastPercent = 1.0;

struct Norms {
  std::vector<SliceId> folded;  // That could be; ascending.
  bool unknown = false;         // There are others of which nothing is known.
};

/// Normalisations by a kernel for inference, of cuDNN or MIOpen; ascending.
std::vector<SliceId> inferring(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet norms(trace, is_batch_norm);
  const NameSet kernels(trace, [](std::string_view name) {
    return name.find("bn_fw_inf") != name.npos || name.find("BatchNormFwdInfer") != name.npos;
  });
  std::vector<SliceId> found;
  if (!kernels.any()) return found;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    if (!op.valid() || !kernels.contains(trace.slices.name[activity.row()])) return;
    const SliceId norm = enclosing(rules, op, norms);
    if (norm.valid()) found.push_back(norm);
  });
  std::ranges::sort(found);
  return found;
}

Norms look(const RuleContext& rules) {
  Norms found;
  const std::vector<SliceId> by_kernel = inferring(rules);
  for (const NormalisedConvolution& pair : normalised_convolutions(rules)) {
    std::optional<bool> training = trains(rules.trace(), pair.norm);
    if (!training && std::ranges::binary_search(by_kernel, pair.norm)) training = false;
    if (training == false) found.folded.push_back(pair.norm);
    found.unknown = found.unknown || !training;
  }
  std::ranges::sort(found.folded);
  return found;
}

Finding describe(const RuleContext& rules, const std::vector<SliceId>& norms,
                 const Blamed& blamed) {
  Finding finding;
  finding.title = "Batch normalisation runs beside its convolution in inference: " +
                  per_step(rules, blamed.time);
  finding.family = Family::memory_bandwidth;
  finding.weight = weight_of(rules, blamed.time);
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(
      evidence_of(rules, blamed,
                  count_text(static_cast<std::int64_t>(norms.size()) / step_count(rules)) +
                      " normalisations per step follow a convolution and do not train"));
  finding.counter_evidence =
      "Results change in their last digits. A model that is trained on afterwards must not be "
      "folded.";
  finding.fix = {
      .text =
          "Fold them once, after model.eval(): the convolution then does both. A compiler "
          "(torch.compile with freezing, torch.jit.freeze, TensorRT) does the same by itself.",
      .before = "model.eval()",
      .after = "model = torch.fx.experimental.optimization.fuse(model.eval())"};
  finding.verify = "fathom ops TRACE --filter 'name=aten::batch_norm'";
  claim_blamed(rules, blamed, 1.0, finding);
  finding.assumption = "no normalisation is left, and convolutions are as fast as before";
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (is_training(rules)) return std::vector<Finding>{};
  const Norms found = look(rules);
  if (found.folded.empty()) {
    if (found.unknown)
      return not_recorded(rules, "whether batch norms train was not recorded",
                          "record_shapes=True");
    return std::vector<Finding>{};
  }
  const NameSet norms(rules.trace(), is_batch_norm);
  Blamed blamed;
  for_each_work(rules, [&](SliceId work, SliceId op) {
    if (!op.valid()) return;
    const SliceId norm = enclosing(rules, op, norms);
    if (norm.valid() && std::ranges::binary_search(found.folded, norm)) blamed.add(rules, work, op);
  });
  if (rules.percent(blamed.time) < kLeastPercent) return std::vector<Finding>{};
  std::vector<Finding> findings;
  findings.push_back(describe(rules, found.folded, blamed));
  return findings;
}

}  // namespace
}  // namespace norm_folding_rule

Rule norm_folding() {
  return {.id = "norm-folding",
          .title = "Batch normalisation that inference could fold into convolutions",
          .doc = norm_folding_rule::kDoc,
          .check = norm_folding_rule::check};
}

}  // namespace fathom
