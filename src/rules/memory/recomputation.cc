// recomputation: the backward pass runs operators of the forward pass again.
#include "analysis/structure/recomputation.h"

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/operators/peak_memory.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/host_steps.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace recomputation_rule {
namespace {

constexpr std::string_view kDoc =
    "Activation checkpointing keeps less of the forward pass and computes it again in the backward "
    "pass: memory for time. Recomputed operators are found by the nodes and Python frames of "
    "torch.utils.checkpoint, or where a node of the backward pass repeats operators of the forward "
    "pass with the same shapes. Fires when they take at least 1 % of the step, with that time as "
    "the price. The price is only claimed as a saving where memory was recorded and the peak "
    "leaves at least half of the device's memory free. Abstains where no operators were recorded. "
    "Source: PyTorch's documentation of torch.utils.checkpoint; Chen et al., Training Deep Nets "
    "with Sublinear Memory Cost (2016).";

constexpr double kLeastPercent = 1.0;
constexpr double kRoomy = 0.5;

Blamed recomputed(const RuleContext& rules, const Recomputation& found) {
  Blamed blamed;
  for_each_work(rules, [&](SliceId work, SliceId op) {
    const SliceId launch = rules.device < 0 ? op : rules.context.links().launch[work.row()];
    if (found.contains(op) || found.contains(launch)) blamed.add(rules, work, op);
  });
  return blamed;
}

bool has_operators(const Trace& trace) {
  return std::ranges::any_of(trace.categories, [](const Category& category) {
    return category.kind == SliceKind::cpu_op && category.slices != 0;
  });
}

/// The share of the device's memory that was allocated at the peak, where both are known.
std::optional<double> full(const RuleContext& rules) {
  const Device* const device = device_of(rules);
  if (rules.device < 0 || device == nullptr || device->memory_bytes <= 0) return {};
  const PeakMemory memory = compute_peak_memory(rules.context);
  const PeakMemory::Peak* const peak = memory.of(rules.device);
  if (peak == nullptr || peak->allocated == kAbsent) return {};
  return static_cast<double>(peak->allocated) / static_cast<double>(device->memory_bytes);
}

std::string room_text(const RuleContext& rules, const std::optional<double>& full) {
  if (!full) {
    return "The memory that it saves was not recorded (use " +
           recording_with(rules.trace(), "profile_memory=True") +
           "): without recomputing, the step may not fit.";
  }
  return "At its peak " + percent_text(100 * *full) +
         " of the device's memory is allocated; without recomputing it is more.";
}

Outcome check(const RuleContext& rules) {
  const Recomputation found = find_recomputation(rules.trace(), rules.context.nesting());
  if (found.operators.empty()) {
    if (!has_operators(rules.trace())) return Abstention{"no operators were recorded"};
    return std::vector<Finding>{};
  }
  const Blamed blamed = recomputed(rules, found);
  if (rules.percent(blamed.time) < kLeastPercent) return std::vector<Finding>{};
  const auto operators = std::ranges::count_if(found.operators, [&rules](SliceId op) {
    return counts_on_host(rules, rules.trace().slices.start[op.row()]);
  });
  const std::optional<double> share = full(rules);
  const bool roomy = share && *share <= kRoomy;
  Finding finding;
  finding.title = "The backward pass computes operators of the forward pass again: " +
                  per_step(rules, blamed.time);
  finding.family = Family::compute;
  finding.weight = roomy ? weight_of(rules, blamed.time) : Weight::note;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(
      evidence_of(rules, blamed,
                  count_text(operators / step_count(rules)) +
                      " operators per step are recomputed (activation checkpointing)"));
  finding.counter_evidence = room_text(rules, share);
  finding.fix = {
      .text = roomy
                  ? "The device has room: checkpoint fewer blocks, or none, and compare the peak. "
                    "Where only some fit, keep the expensive ones (attention, GEMMs) and "
                    "recompute the cheap."
                  : "Where memory allows, checkpoint fewer blocks; else recompute only what is "
                    "cheap (elementwise, normalisation) and keep GEMMs and attention "
                    "(selective checkpointing).",
      .before = "x = checkpoint(block, x, use_reentrant=False)",
      .after =
          "x = checkpoint(block, x, use_reentrant=False) if i % 2 == 0 else block(x)  # every "
          "second"};
  finding.verify = "fathom compare BEFORE AFTER";
  if (roomy) {
    claim_blamed(rules, blamed, 1.0, finding);
    finding.assumption = "nothing is recomputed";
  }
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace recomputation_rule

Rule recomputation() {
  return {.id = "recomputation",
          .title = "Work of the forward pass that the backward pass repeats",
          .doc = recomputation_rule::kDoc,
          .check = recomputation_rule::check};
}

}  // namespace fathom
