// anomaly-mode: autograd's anomaly detection was left on.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/structure/forward_ops.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/node_names.h"
#include "rules/rule.h"

namespace fathom {
namespace anomaly_mode_rule {
namespace {

constexpr std::string_view kDoc =
    "torch.autograd.set_detect_anomaly(True) is for the search of a NaN: each operator of the "
    "forward pass that makes a node collects its Python stack, and behind each node of the "
    "backward pass its results are looked through for NaN, with .item(), which waits for a device. "
    "Fires where aten::_is_any_true, which autograd alone calls, stands behind at least half of "
    "the "
    "nodes, those left out that add to a parameter. Without a device, collecting a stack is taken "
    "to last "
    "as long as the own time of operators that only make views, less 2 us (median). Source: "
    "PyTorch's documentation of detect_anomaly and its tuning guide (disable debugging APIs).";

/// Own time of an operator that only makes a view, without anomaly detection.
constexpr Duration kView = duration_ns(2'000);
constexpr std::size_t kFewestViews = 8;

bool is_check(std::string_view name) {
  return name == "aten::isnan" || name == "aten::_is_any_true" || name == "aten::item";
}

bool makes_view(std::string_view name) {
  return name == "aten::t" || name == "aten::view" || name == "aten::transpose" ||
         name == "aten::permute" || name == "aten::unsqueeze" || name == "aten::select" ||
         name == "aten::_unsafe_view" || name == "aten::slice" || name == "aten::squeeze";
}

/// What the backward pass checks, and how many of its nodes have such checks.
struct Checks {
  std::vector<SliceId> calls;
  std::size_t nodes = 0;
  std::size_t checked = 0;  ///< Nodes.
};

Checks look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet nodes(trace, is_backward_node);
  const NameSet checks(trace, is_check);
  Checks found;
  if (!nodes.any() || !checks.any()) return found;
  const Column<SliceId>& parent = rules.context.nesting().parent;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    if (rules.device < 0 && thread.track != rules.accounting.main_thread) continue;
    CountedTime counted(rules);
    SliceId last{};
    for (const SliceId slice : thread.slices) {
      if (!counted.holds(trace.slices.start[slice.row()])) continue;
      const StringId name = trace.slices.name[slice.row()];
      const auto is_looked_through = [&](StringId node) {
        // One that adds to a parameter has no results; what is checked there, a hook checks.
        return nodes.contains(node) && !trace.text(node).ends_with("AccumulateGrad");
      };
      if (is_looked_through(name)) ++found.nodes;
      const SliceId around = parent[slice.row()];
      if (!checks.contains(name) || !around.valid() ||
          !is_looked_through(trace.slices.name[around.row()]))
        continue;
      found.calls.push_back(slice);
      if (trace.text(name) == "aten::_is_any_true" && around != last) {
        ++found.checked;
        last = around;
      }
    }
  }
  return found;
}

/// Operators of the main thread that made a node.
struct Recorded {
  std::vector<SliceId> ops;
  Duration stack{};  ///< What collecting a stack takes each of them; 0 where that is not known.
};

Recorded with_stacks(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet views(trace, makes_view);
  Recorded found;
  std::vector<Duration> of_views;
  SliceId last{};
  for_each_work(rules, [&](SliceId, SliceId op) {
    if (rules.context.phases()[op] != Phase::forward) return;
    const SequenceOf sequence = sequence_of(trace, op);
    if (!sequence.is_forward()) return;
    // An operator and what it calls share a number: the innermost makes the node.
    if (last.valid() && sequence_of(trace, last).sequence == sequence.sequence)
      found.ops.pop_back();
    found.ops.push_back(op);
    last = op;
  });
  for (const SliceId op : found.ops)
    if (views.contains(trace.slices.name[op.row()])) of_views.push_back(rules.self_times[op.row()]);
  if (of_views.size() < kFewestViews) return found;
  const auto middle = of_views.begin() + static_cast<std::ptrdiff_t>(of_views.size() / 2);
  std::ranges::nth_element(of_views, middle);
  found.stack = std::max(*middle - kView, Duration{});
  return found;
}

Outcome check(const RuleContext& rules) {
  const Checks found = look(rules);
  if (found.calls.empty() || 2 * found.checked < found.nodes) return std::vector<Finding>{};
  Finding finding;
  claim_host_work(rules, found.calls, 1.0, finding.claims, kHostWaits);
  const Duration checking = total(finding.claims);
  scale_trees(rules, found.calls, 0.0F, finding.edits);
  finding.family = Family::host;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(
      rules, found.calls,
      counted_noun(found.checked / static_cast<std::size_t>(step_count(rules)), "node") +
          " of the backward pass per step " +
          "looked through for NaN: " + per_step(rules, checking)));
  if (rules.device < 0) {
    const Recorded forward = with_stacks(rules);
    RemovedTime removed(rules);
    Duration collecting{};
    for (const SliceId op : forward.ops) {
      const Duration own = rules.self_times[op.row()];
      const Duration time = std::min(own, forward.stack);
      if (time <= Duration{}) continue;
      finding.claims.push_back({.slice = op, .time = time, .whole = time});
      removed.add(op, time);
      collecting += time;
    }
    removed.to(finding.edits);
    if (collecting > Duration{}) {
      finding.evidence.push_back(
          evidence_of(rules, forward.ops,
                      "operators of the forward pass collect their stacks: about " +
                          duration_text(forward.stack) + " each, " + per_step(rules, collecting)));
    }
  }
  const Duration all = whole(finding.claims);
  finding.title = "Anomaly detection of autograd is on: " + per_step(rules, all);
  finding.weight = weight_of(rules, all);
  finding.counter_evidence =
      "While a NaN is looked for it has to stay on. Recording makes both kinds of steps longer: "
      "without the recorder it is a larger part of the step.";
  finding.fix = {
      .text =
          "Turn it on only while a NaN is looked for. Where one must be noticed, look at the loss "
          "every N steps: torch.isfinite(loss).",
      .before = "torch.autograd.set_detect_anomaly(True)",
      .after = "torch.autograd.set_detect_anomaly(args.debug)"};
  finding.verify = "fathom ops TRACE --filter 'name~isnan|_is_any_true'";
  finding.assumption = "nothing is checked, and no stack collected";
  finding.pessimism = 0.8;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace anomaly_mode_rule

Rule anomaly_mode() {
  return {.id = "anomaly-mode",
          .title = "Anomaly detection of autograd that was left on",
          .doc = anomaly_mode_rule::kDoc,
          .check = anomaly_mode_rule::check};
}

}  // namespace fathom
