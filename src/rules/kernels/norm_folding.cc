// norm-folding: in inference, a batch normalisation right after a convolution.
#include <algorithm>
#include <optional>
#include <string>

#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace norm_folding_rule {
namespace {

constexpr std::string_view kDoc =
    "In inference a batch normalisation is a product and a sum per channel with fixed numbers, "
    "which can be folded into the weights and the bias of the convolution before it. Fires where "
    "no backward pass and no optimizer were recorded, a batch normalisation that does not train "
    "follows a convolution, and such normalisations take at least 1 % of the step. Abstains where "
    "nothing shows whether they train. Source: PyTorch's tutorial on fusing convolutions and "
    "batch norms; torch.fx.experimental.optimization.";

constexpr double kLeastPercent = 1.0;
constexpr std::size_t kTrains = 5;  // Argument of aten::batch_norm.

bool is_convolution(std::string_view name) {
  return name == "aten::conv2d" || name == "aten::conv1d" || name == "aten::conv3d";
}
bool is_norm(std::string_view name) { return name == "aten::batch_norm"; }

/// Does the normalisation use the statistics of its batch? Unset where that was not recorded.
std::optional<bool> trains(const Trace& trace, SliceId norm) {
  const Signature* const signature = signature_of(trace, norm);
  if (signature == nullptr || !signature->concrete.valid()) return {};
  const OpArguments arguments(trace.text(signature->shapes), trace.text(signature->types),
                              trace.text(signature->concrete));
  const std::string_view text = arguments.text(kTrains);
  if (text.empty()) return {};
  return text != "False" && text != "0";
}

struct Norms {
  std::vector<SliceId> folded;  // That could be; ascending.
  bool unknown = false;         // There are others of which nothing is known.
};

/// Normalisations right after a convolution that the same operator or range called. What runs
/// inside the convolution, another one under autocast, is part of it.
Norms look(const RuleContext& rules, const NameSet& convolutions, const NameSet& norms) {
  const Trace& trace = rules.trace();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  Norms found;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    SliceId last;  // The convolution that awaits its successor.
    for (const SliceId slice : thread.slices) {
      if (trace.kind(slice) != SliceKind::cpu_op) continue;
      if (last.valid() && trace.slices.start[slice.row()] < trace.slices.end(last)) continue;
      const StringId name = trace.slices.name[slice.row()];
      const bool beside = last.valid() && parent[slice.row()] == parent[last.row()];
      if (beside && norms.contains(name) && counts(rules, slice)) {
        const std::optional<bool> training = trains(trace, slice);
        if (training == false) found.folded.push_back(slice);
        found.unknown = found.unknown || !training;
      }
      if (beside) last = {};
      if (convolutions.contains(name)) last = slice;
    }
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
  const NameSet convolutions(rules.trace(), is_convolution);
  const NameSet norms(rules.trace(), is_norm);
  if (!convolutions.any() || !norms.any() || is_training(rules)) return std::vector<Finding>{};
  const Norms found = look(rules, convolutions, norms);
  if (found.folded.empty()) {
    if (found.unknown)
      return Abstention{"whether batch norms train was not recorded: record_shapes=True"};
    return std::vector<Finding>{};
  }
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
