// zero-grad: gradients are filled with zeros instead of being dropped.
#include <algorithm>

#include "analysis/structure/stretches.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/host_work.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace zero_grad_rule {
namespace {

constexpr std::string_view kDoc =
    "zero_grad(set_to_none=False) fills each gradient with zeros, and the backward pass then reads "
    "and adds to it; with None, the default since PyTorch 2.0, nothing is filled and the first "
    "gradient is taken as it is. Found are aten::zero_ and aten::_foreach_zero_ inside ranges or "
    "Python functions called zero_grad. Counted are the device's idle time meanwhile, the fills, "
    "and the additions under AccumulateGrad, as many as there were fills: those of further "
    "micro-batches are needed. Fires from 1 % of the step. Sources: PyTorch's tuning guide and "
    "Optimizer.zero_grad; TorchTidy's GradNotSetToNone.";

constexpr double kLeastPercent = 1.0;
/// Dropping gradients is a short Python loop over the parameters.
constexpr double kHostLeft = 0.1;

bool is_range(std::string_view name) { return name.find("zero_grad") != std::string_view::npos; }
bool is_foreach(std::string_view name) { return name == "aten::_foreach_zero_"; }
bool is_fill(std::string_view name) { return name == "aten::zero_" || is_foreach(name); }
bool is_creation(std::string_view name) {
  return name.starts_with("aten::zeros") || name.starts_with("aten::new_zeros");
}
bool is_accumulation(std::string_view name) {
  return name.find("AccumulateGrad") != std::string_view::npos;
}

/// Tensors in the first argument, a list: lists at the third level of "[[[3,4],[4]]]".
std::size_t listed(std::string_view shapes) {
  std::size_t depth = 0;
  std::size_t count = 0;
  for (const char c : shapes) {
    if (c == '[' && ++depth == 3) ++count;
    if (c == ']' && --depth == 1) break;
  }
  return count;
}

struct Found {
  std::vector<SliceId> ranges;  // By track, then time; outermost.
  std::size_t fills = 0;        // Tensors.
  std::size_t calls = 0;
  std::size_t additions = 0;
  Blamed filled;
  Blamed added;
};

void find_ranges(const RuleContext& rules, const std::vector<Nesting::Thread>& threads,
                 std::vector<SliceId>& ranges) {
  const Trace& trace = rules.trace();
  add_outermost(rules, threads, NameSet(trace, is_range), ranges);
  std::ranges::sort(ranges, {}, [&trace](SliceId slice) {
    return std::pair(trace.slices.track[slice.row()], trace.slices.start[slice.row()]);
  });
}

bool in_range(const Trace& trace, const std::vector<SliceId>& ranges, SliceId slice) {
  const auto key = [&trace](SliceId at) {
    return std::pair(trace.slices.track[at.row()], trace.slices.start[at.row()]);
  };
  const auto after = std::ranges::upper_bound(ranges, key(slice), {}, key);
  if (after == ranges.begin()) return false;
  const SliceId range = *std::prev(after);
  return trace.slices.track[range.row()] == trace.slices.track[slice.row()] &&
         trace.slices.start[slice.row()] < trace.slices.end(range);
}

/// Fills that clear a gradient: not those of a tensor just made.
std::size_t tensors_filled(const RuleContext& rules, SliceId fill, const NameSet& creations) {
  if (enclosing(rules, fill, creations).valid()) return 0;
  if (!is_foreach(rules.trace().name(fill))) {
    // aten::_foreach_zero_ falls back to aten::zero_ of each, which is counted then.
    return 1;
  }
  const Signature* const signature = signature_of(rules.trace(), fill);
  return signature == nullptr || !signature->shapes.valid()
             ? 0
             : listed(rules.trace().text(signature->shapes));
}

Found look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  Found found;
  find_ranges(rules, rules.context.nesting().work, found.ranges);
  if (found.ranges.empty()) find_ranges(rules, rules.context.nesting().frames, found.ranges);
  const NameSet fills(trace, is_fill);
  const NameSet creations(trace, is_creation);
  const NameSet accumulations(trace, is_accumulation);
  if (!fills.any()) return found;
  for (const SliceId fill : host_slices(rules, fills)) {
    const SliceId around = rules.context.nesting().parent[fill.row()];
    const bool inner = around.valid() && enclosing(rules, around, fills).valid();
    if (inner || !in_range(trace, found.ranges, fill)) continue;
    ++found.calls;
    found.fills += tensors_filled(rules, fill, creations);
  }
  if (found.calls == 0) return found;
  for_each_work(rules, [&](SliceId work, SliceId op) {
    if (!op.valid()) return;
    if (enclosing(rules, op, accumulations).valid()) {
      if (trace.name(op) != "aten::add_") return;
      ++found.additions;
      found.added.add(rules, work, op);
    } else if (enclosing(rules, op, fills).valid() && in_range(trace, found.ranges, op) &&
               !enclosing(rules, op, creations).valid()) {
      found.filled.add(rules, work, op);
    }
  });
  return found;
}

/// Of the additions, those that a gradient of None makes unnecessary.
double needless(const Found& found) {
  if (found.additions == 0) return 0;
  return std::min(1.0, static_cast<double>(found.fills) / static_cast<double>(found.additions));
}

/// Of the time of the additions, what would remain.
Duration needed(const Found& found) {
  const auto all = static_cast<double>(to_ns(found.added.time));
  return duration_ns(static_cast<std::int64_t>(all * (1 - needless(found))));
}

void claim_everything(const RuleContext& rules, const Found& found, Finding& finding) {
  const Trace& trace = rules.trace();
  for (const SliceId range : found.ranges) {
    if (rules.device >= 0) {
      claim_idle(rules, interval_of(trace, range), kHostLate, finding.claims, 1.0 - kHostLeft);
    } else {
      finding.claims.push_back(claim(rules, range, 1.0 - kHostLeft));
    }
    scale_tree(rules, range, static_cast<float>(kHostLeft), finding.edits);
  }
  claim_blamed(rules, found.filled, 1.0, finding);
  claim_blamed(rules, found.added, needless(found), finding);
}

Outcome check(const RuleContext& rules) {
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  if (!is_training(rules)) return std::vector<Finding>{};
  const Found found = look(rules);
  if (found.ranges.empty()) {
    return Abstention{
        "no zero_grad is in the counted steps: PyTorch's optimizers record theirs; wrap others "
        "into record_function(\"zero_grad\")"};
  }
  Finding finding;
  if (found.calls > 0) claim_everything(rules, found, finding);
  const Duration time = total(finding.claims);
  if (found.fills == 0 || rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  finding.title = "Gradients are filled with zeros instead of dropped: " +
                  per_step(rules, whole(finding.claims) - needed(found));
  finding.family = Family::host;
  finding.weight = weight_of(rules, time);
  finding.confidence = Confidence::high;
  finding.effort = Effort::flag;
  Duration spent{};
  for (const SliceId range : found.ranges) spent += rules.trace().slices.duration[range.row()];
  finding.evidence.push_back(
      evidence_of(rules, found.ranges,
                  counted_noun(found.fills, "gradient") + " filled in " +
                      counted_noun(found.ranges.size(), "call") + " of zero_grad, which take " +
                      per_step(rules, spent) + " on the host; " +
                      counted_noun(found.additions, "addition") + " to gradients in backward"));
  finding.counter_evidence =
      "A gradient that stays zero lets optimizers with momentum or weight decay update a parameter "
      "that took no part; with None they skip it. Code that reads .grad must expect None.";
  finding.fix = {.text =
                     "Set gradients to None. It is the default since PyTorch 2.0; remove the "
                     "argument, or give it in older versions. Caveat: parameters that took no part "
                     "are then skipped, which momentum and weight decay would have moved.",
                 .before = "optimizer.zero_grad(set_to_none=False)",
                 .after = "optimizer.zero_grad(set_to_none=True)"};
  finding.verify = "fathom ops TRACE --filter 'name~zero_'";
  finding.assumption =
      "a tenth of zero_grad's host time is left, the fills and the first additions are not";
  finding.pessimism = 0.5;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace zero_grad_rule

Rule zero_grad() {
  return {.id = "zero-grad",
          .title = "Gradients filled with zeros",
          .doc = zero_grad_rule::kDoc,
          .check = zero_grad_rule::check};
}

}  // namespace fathom
