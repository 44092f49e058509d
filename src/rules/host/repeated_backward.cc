// repeated-backward: the backward pass runs the same nodes several times.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/structure/forward_ops.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/node_names.h"
#include "rules/rule.h"

namespace fathom {
namespace repeated_backward_rule {
namespace {

constexpr std::string_view kDoc =
    "Each call of backward() walks from its loss to the parameters. Where several losses share a "
    "trunk, and each has its own call (with retain_graph=True), the trunk's nodes run once for "
    "each; of the sum of the losses they run once, with the same gradients. Found by autograd's "
    "sequence numbers: nodes of one number that run more than once in a step. Fires from 5 % of "
    "the step. Silent with second derivatives (nodes named BackwardBackward), which go through the "
    "forward pass again for good reason. Claimed is what runs again; the sum's single pass is "
    "taken to cost as much as one of them. Source: PyTorch's documentation of autograd "
    "(retain_graph, accumulation into .grad).";

constexpr double kLeastPercent = 5.0;

/// "6", or "2.500" where not all nodes run equally often.
std::string times_text(double times) {
  const double whole = std::round(times);
  return std::abs(times - whole) < 0.005 ? std::to_string(std::llround(whole)) : real_text(times);
}

/// The nodes of one sequence number in one step.
struct Repeated {
  std::uint32_t runs = 0;
  std::vector<std::pair<SliceId, SliceId>> work;  ///< And its operator.
};

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet nodes(trace, is_backward_node);
  if (!nodes.any()) return Abstention{"no node of a backward pass was recorded"};
  if (NameSet(trace, is_twice_backward).any()) return std::vector<Finding>{};
  // By step, process, sequence number and forward thread: ranks have the same numbers.
  using Key = std::tuple<const Step*, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Key, Repeated> found;
  std::vector<Repeated*> of_slice(trace.slices.size());
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    const std::int64_t pid = trace.tracks[thread.track.row()].pid;
    for (const SliceId slice : thread.slices) {
      Repeated* node = nullptr;
      if (nodes.contains(trace.slices.name[slice.row()])) {
        const SequenceOf sequence = sequence_of(trace, slice);
        const Step* const step =
            sequence.is_backward() ? rules.step_at(trace.slices.start[slice.row()], pid) : nullptr;
        if (step != nullptr) {
          node = &found[{step, pid, sequence.sequence, sequence.forward_thread}];
          ++node->runs;
        }
      } else if (const SliceId around = rules.context.nesting().parent[slice.row()];
                 around.valid()) {
        node = of_slice[around.row()];
      }
      of_slice[slice.row()] = node;
    }
  }
  for_each_work(rules, [&](SliceId work, SliceId op) {
    if (!op.valid()) return;
    if (Repeated* const node = of_slice[op.row()]; node != nullptr && node->runs > 1)
      node->work.emplace_back(work, op);
  });
  Finding finding;
  Blamed blamed;
  Duration again{};
  double passes = 0;
  for (const auto& [key, node] : found) {
    if (node.work.empty()) continue;
    Blamed each;
    for (const auto& [work, op] : node.work) {
      each.add(rules, work, op);
      blamed.add(rules, work, op);
    }
    claim_blamed(rules, each, 1.0 - 1.0 / node.runs, finding);
    passes += node.runs * static_cast<double>(to_ns(each.time));
  }
  again = total(finding.claims);
  if (rules.percent(again) < kLeastPercent) return std::vector<Finding>{};
  passes /= std::max(static_cast<double>(to_ns(blamed.time)), 1.0);
  finding.title = "The backward pass goes through the same nodes " + times_text(passes) +
                  " times: " + per_step(rules, again) + " for going again";
  finding.family = Family::compute;
  finding.weight = weight_of(rules, again);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(rules, blamed,
                                         "nodes that run more than once in a step take " +
                                             per_step(rules, blamed.time) +
                                             ", told by autograd's sequence numbers"));
  finding.counter_evidence =
      "Where each loss's gradients are needed by themselves (to weigh or clip them, rows of a "
      "Jacobian), their sum does not give them.";
  finding.fix = {
      .text =
          "Gradients add up in .grad anyway: call backward() once on the sum of the losses, which "
          "gives the same gradients up to rounding. Where rows of a Jacobian are meant: "
          "torch.func.jacrev, or is_grads_batched=True.",
      .before = "for loss in losses: loss.backward(retain_graph=True)",
      .after = "sum(losses).backward()"};
  finding.verify = "fathom accounting TRACE --group-by phase";
  finding.assumption = "one pass for all losses costs as much as one of them does now";
  finding.pessimism = 0.5;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace repeated_backward_rule

Rule repeated_backward() {
  return {.id = "repeated-backward",
          .title = "A backward pass that runs the same nodes several times",
          .doc = repeated_backward_rule::kDoc,
          .check = repeated_backward_rule::check};
}

}  // namespace fathom
