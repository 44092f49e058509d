// bias-before-norm: convolutions add a bias in vain.
#include <algorithm>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
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

bool is_convolution(std::string_view name) {
  return name == "aten::conv2d" || name == "aten::conv1d" || name == "aten::conv3d";
}
bool is_norm(std::string_view name) { return name == "aten::batch_norm"; }

bool has_bias(const Trace& trace, SliceId op) {
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->shapes.valid()) return false;
  const std::vector<std::string_view> shapes = json_elements(trace.text(signature->shapes));
  if (shapes.size() <= kBias) return false;
  const auto sizes = json_integers(shapes[kBias]);
  return sizes && sizes->size() == 1;
}

/// Convolutions with a bias whose next operator beside them is a batch normalisation.
std::vector<SliceId> look(const RuleContext& rules, const NameSet& convolutions,
                          const NameSet& norms) {
  const Trace& trace = rules.trace();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  std::vector<SliceId> found;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    SliceId last;  // The convolution that awaits its successor.
    for (const SliceId slice : thread.slices) {
      if (trace.kind(slice) != SliceKind::cpu_op) continue;
      const bool beside = last.valid() && parent[slice.row()] == parent[last.row()];
      if (beside && norms.contains(trace.slices.name[slice.row()])) found.push_back(last);
      if (beside) last = {};
      if (convolutions.contains(trace.slices.name[slice.row()]) && counts(rules, slice) &&
          has_bias(trace, slice)) {
        last = slice;
      }
    }
  }
  return found;
}

bool is_addition(std::string_view name) { return name == "aten::add_" || name == "aten::add"; }

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet convolutions(trace, is_convolution);
  const NameSet norms(trace, is_norm);
  if (!convolutions.any() || !norms.any()) return std::vector<Finding>{};
  if (!has_shapes(trace)) return Abstention{"shapes were not recorded: record_shapes=True"};
  const std::vector<SliceId> found = look(rules, convolutions, norms);
  if (found.empty()) return std::vector<Finding>{};
  const NameSet additions(trace, is_addition);
  Finding finding;
  Blamed blamed;
  if (rules.device >= 0) {
    for_each_activity(rules, [&](SliceId activity, SliceId op) {
      if (!op.valid() || !additions.contains(trace.slices.name[op.row()])) return;
      const SliceId convolution = enclosing(rules, op, convolutions);
      if (std::ranges::binary_search(found, convolution)) blamed.add(rules, activity, op);
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
  finding.fix = {.text = "Leave the bias out before batch normalisation.",
                 .before = "nn.Conv2d(64, 128, 3), nn.BatchNorm2d(128)",
                 .after = "nn.Conv2d(64, 128, 3, bias=False), nn.BatchNorm2d(128)"};
  finding.verify = "fathom ops TRACE --group-by shape --filter 'name~conv2d'";
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
