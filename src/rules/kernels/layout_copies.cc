// layout-copies: tensors are copied to change their layout.
#include <algorithm>
#include <array>

#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace layout_copies_rule {
namespace {

constexpr std::string_view kDoc =
    "aten::contiguous, and clone or reshape of a view, copy a tensor "
    "without computing anything: the operands were transposed or sliced, and what "
    "follows wants them dense. The clone that an operator changes in place, as aten::masked_fill "
    "does, or puts in order, as aten::median does, is none. Fires when such copies take at least 3 "
    "% of the step. "
    "Source: PyTorch's tensor views documentation; Nsight's advice on transposes.";

constexpr double kLeastPercent = 3.0;

/// The operators in which something is copied: others of these names only make a view.
std::vector<bool> copying(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet copies(trace, [](std::string_view name) { return name == "aten::copy_"; });
  std::vector<bool> found(trace.slices.size());
  for (std::size_t row = 0; row < trace.slices.size() && copies.any(); ++row) {
    if (!copies.contains(trace.slices.name[row])) continue;
    for (SliceId at(row); at.valid() && !found[at.row()];
         at = rules.context.nesting().parent[at.row()])
      found[at.row()] = true;
  }
  return found;
}

/// Does it put elements of a copy of its own in order?
bool orders_a_copy(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"aten::median", "aten::nanmedian", "aten::kthvalue", "aten::sort", "aten::mode"});
  return std::ranges::find(kNames, name) != kNames.end();
}

/// Operators that copy their operand and change the copy by their twin, as aten::masked_fill does
/// by aten::masked_fill_, or by themselves.
NameSet changing_copies(const Trace& trace) {
  return {trace, [&trace](std::string_view name) {
            if (orders_a_copy(name)) return true;
            return name.starts_with("aten::") && !changes_layout(name) &&
                   trace.strings.find(std::string(name) + "_").valid();
          }};
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  const NameSet relayouts(trace, changes_layout);
  if (!relayouts.any()) return std::vector<Finding>{};
  const Timelines& timelines = rules.context.timelines();
  Blamed blamed;
  const std::vector<bool> copies = rules.device < 0 ? copying(rules) : std::vector<bool>();
  const NameSet changing = changing_copies(trace);
  const auto changed = [&](SliceId relayout) {
    const SliceId around = rules.context.nesting().parent[relayout.row()];
    return around.valid() && changing.contains(trace.slices.name[around.row()]);
  };
  for_each_work(rules, [&](SliceId work, SliceId op) {
    const SliceId relayout = op.valid() ? enclosing(rules, op, relayouts) : SliceId();
    if (!relayout.valid() || changed(relayout) || (!copies.empty() && !copies[relayout.row()]))
      return;
    if (is_device_activity(trace.kind(work)) &&
        timelines.busy_kind(trace, work) == Busy::communication) {
      return;
    }
    blamed.add(rules, work, op);
  });
  if (rules.percent(blamed.time) < kLeastPercent) return std::vector<Finding>{};
  Finding finding;
  finding.title = "Copies that only change the layout: " + per_step(rules, blamed.time);
  finding.family = Family::memory_bandwidth;
  finding.weight = rules.percent(blamed.time) >= 15 ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, blamed,
                  count_text(static_cast<std::int64_t>(blamed.activities.size())) +
                      (rules.device >= 0 ? " kernels" : " operators") +
                      " under aten::contiguous, clone or reshape"));
  finding.counter_evidence =
      "A copy can be cheaper than what follows reading scattered memory; some are needed for "
      "safety "
      "(clone before an in-place change).";
  finding.fix = {.text =
                     "Keep one layout through the model: drop .contiguous() where the next "
                     "operator takes views (matrix multiplications do), fold transposes into the "
                     "matrix multiplication, write results where they are needed.",
                 .before = "x = x.transpose(1, 2).contiguous(); y = x @ w",
                 .after = "y = x.transpose(1, 2) @ w"};
  finding.verify = "fathom ops TRACE --filter 'name~contiguous|clone' --group-by stack=3";
  claim_blamed(rules, blamed, 1.0, finding);
  claim_callers(rules, blamed.ops, 1.0, finding);
  finding.assumption = "all of these copies are avoided; not each of them can be";
  finding.pessimism = 0.2;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace layout_copies_rule

Rule layout_copies() {
  return {.id = "layout-copies",
          .title = "Copies that only change the layout",
          .doc = layout_copies_rule::kDoc,
          .check = layout_copies_rule::check};
}

}  // namespace fathom
