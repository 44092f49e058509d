// Edits: what the replay changes to predict what a finding saves.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// The slice and all host work inside it, parents before children. O(log n + inside).
std::span<const SliceId> tree(const RuleContext& rules, SliceId slice);

/// Of these slices those that lie in none of the others, each once, in the order that they come in.
/// O(slices of the trace).
std::vector<SliceId> outermost_of(const RuleContext& rules, std::span<const SliceId> slices);

/// Scales the slice and all host work inside it.
void scale_tree(const RuleContext& rules, SliceId slice, float factor, Edits& edits);
/// The same for several, each once, even where they repeat or lie in each other. O(slices).
void scale_trees(const RuleContext& rules, const std::vector<SliceId>& roots, float factor,
                 Edits& edits);

/// What calling an operator costs at most, without its work.
inline constexpr Duration kOperatorCall = duration_ns(5'000);

/// The time of host slices that a change removes; own time, so that parents and children add up.
class RemovedTime {
 public:
  explicit RemovedTime(const RuleContext& rules) : rules_(rules) {}
  /// `slice` may be invalid: then nothing is removed.
  void add(SliceId slice, Duration time);
  /// Without a device: what the main thread spends in counted steps during the stretch in these
  /// buckets (any of them, where none is named). O(log n + pieces inside).
  void add(const Interval& stretch, std::initializer_list<HostBucket> buckets);
  /// Scales each slice by what is left of it. O(n log n + slices inside).
  void to(Edits& edits);

 private:
  const RuleContext& rules_;
  std::vector<std::pair<SliceId, Duration>> removed_;
};

}  // namespace fathom
