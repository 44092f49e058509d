// What many rules need: names looked up once, places in the user's code, claims on time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity_text.h"
#include "rules/rule.h"

namespace fathom {

/// The names of a trace for which something holds: asked once per distinct name, not per slice.
class NameSet {
 public:
  template <typename Predicate>
  NameSet(const Trace& trace, const Predicate& matches) : member_(trace.strings.size()) {
    for (std::size_t row = 0; row < member_.size(); ++row) {
      member_[row] = matches(trace.strings.view(StringId(row)));
      any_ = any_ || member_[row];
    }
  }
  [[nodiscard]] bool contains(StringId name) const { return name.valid() && member_[name.row()]; }
  /// Does any name of the trace match?
  [[nodiscard]] bool any() const { return any_; }

 private:
  std::vector<bool> member_;
  bool any_ = false;
};

/// The innermost slice around `slice`, itself included, whose name is in `names`; else invalid.
SliceId enclosing(const RuleContext& rules, SliceId slice, const NameSet& names);

/// Does this host slice or activity start in a counted step (an activity: on the device that the
/// diagnosis is about)?
bool counts(const RuleContext& rules, SliceId slice);

/// What an operator was called with, or nullptr where it was not recorded. `op` may be invalid.
const Signature* signature_of(const Trace& trace, SliceId op);
/// Do any operators of the trace carry shapes?
bool has_shapes(const Trace& trace);
/// The properties of the diagnosed device, or nullptr.
const Device* device_of(const RuleContext& rules);

/// True where work went to a device of which nothing was recorded, or less than half of the
/// kernels: then times of the host and idle times say little. O(names + slices).
bool device_unrecorded(const RuleContext& rules);

/// True where the host's operators, calls and Python frames were not recorded: nothing then tells
/// what ran inside its annotations.
bool only_annotations(const RuleContext& rules);

/// Calls visit(activity, its innermost operator) for each activity of the diagnosed device that
/// starts in a counted step, by time. The operator may be invalid.
template <typename Visit>
void for_each_activity(const RuleContext& rules, const Visit& visit) {
  const DeviceTimeline* const timeline = rules.context.timelines().find(rules.device);
  if (timeline == nullptr) return;
  const Links& links = rules.context.links();
  CountedTime counted(rules);
  for (const SliceId activity : timeline->activities) {
    if (counted.holds(rules.trace().slices.start[activity.row()])) {
      visit(activity, links.op[activity.row()]);
    }
  }
}

/// The same; without a device visit(operator, the same operator) for each operator of the main
/// thread that starts in a counted step, by time, those around others first.
template <typename Visit>
void for_each_work(const RuleContext& rules, const Visit& visit) {
  if (rules.device >= 0) {
    for_each_activity(rules, visit);
    return;
  }
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    if (thread.track != rules.accounting.main_thread) continue;
    CountedTime counted(rules);
    for (const SliceId op : thread.slices) {
      const bool counts = counted.holds(rules.trace().slices.start[op.row()]);
      if (counts && rules.trace().kind(op) == SliceKind::cpu_op) visit(op, op);
    }
  }
}

/// Activities that a rule blames, and their credited time; without a device operators, and their
/// own time.
struct Blamed {
  std::vector<SliceId> activities;
  std::vector<SliceId> ops;  ///< Of the activities, where known; may repeat.
  Duration time{};
  void add(const RuleContext& rules, SliceId activity, SliceId op);
};
/// Claims `fraction` of the blamed time, and scales the activities by what is left of it.
void claim_blamed(const RuleContext& rules, const Blamed& blamed, double fraction,
                  Finding& finding);
/// Evidence that names the costliest of the blamed, and where the first of their operators was
/// called.
Evidence evidence_of(const RuleContext& rules, const Blamed& blamed, std::string text);

/// Time of an activity credited to it (Accounting::credited), or, without a device, the host
/// slice's own time; times `fraction`.
Claim claim(const RuleContext& rules, SliceId slice, double fraction = 1.0);
/// The counted part of a gap, times `fraction`.
Claim claim_gap(const RuleContext& rules, std::uint32_t gap, double fraction = 1.0);
/// Claims the time that these host slices, which must not overlap on one thread, make the device
/// wait: the idle pieces of the given causes while they ran, times `fraction`. Without a device:
/// the own time of the slices and of everything inside them.
void claim_host_work(const RuleContext& rules, std::span<const SliceId> slices, double fraction,
                     std::vector<Claim>& claims,
                     std::initializer_list<Bucket> causes = {Bucket::dispatch, Bucket::python});
/// The slice and all host work inside it, parents before children. O(log n + inside).
std::span<const SliceId> tree(const RuleContext& rules, SliceId slice);
/// Scales the slice and all host work inside it.
void scale_tree(const RuleContext& rules, SliceId slice, float factor, Edits& edits);
/// The family that this time of the main thread belongs to.
Family family_of(HostBucket bucket);
/// Σ of the claims.
Duration total(const std::vector<Claim>& claims);

/// The costliest eight of the slices; of equally costly ones the first in the file.
std::vector<SliceId> costliest(const Trace& trace, std::vector<SliceId> slices);

/// "3.2 ms (4.1 % of the step)": the time per counted step, and its share.
std::string per_step(const RuleContext& rules, Duration whole);

}  // namespace fathom
