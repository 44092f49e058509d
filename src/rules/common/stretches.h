// Claims and edits by stretches of time, where not whole slices are to blame.
#pragma once

#include <initializer_list>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "rules/common/host_work.h"

namespace fathom {

/// Causes of idleness that lie with the host, input apart.
inline constexpr std::initializer_list<Bucket> kHostWaits = {
    Bucket::allocation, Bucket::sync, Bucket::dispatch, Bucket::python, Bucket::launch_latency};

/// The longest stretch of Python that still counts as calling an operator.
inline constexpr Duration kLongestCall = duration_ns(200'000);
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

/// Without a device: the main thread's pieces that overlap the stretch. O(log n).
std::span<const HostPiece> main_thread_in(const RuleContext& rules, const Interval& stretch);

/// A claim on a piece of the main thread, which is one of Accounting::host.
Claim piece_claim(const RuleContext& rules, const HostPiece& piece, Duration time);

/// Without a device: claims what the main thread spends in counted steps during the stretch in
/// these buckets (any of them, where none is named), at most `budget`, and removes it, as far as it
/// lies in a slice. Returns the time found. O(log n + pieces inside).
Duration claim_main_thread(const RuleContext& rules, const Interval& stretch,
                           std::initializer_list<HostBucket> buckets, std::vector<Claim>& claims,
                           RemovedTime* removed = nullptr, Duration budget = Duration::max());

/// Claims what the stretch costs: with a device, its idle time for which the host is to blame; else
/// the main thread's time. Returns the time found.
Duration claim_stretch(const RuleContext& rules, const Interval& stretch,
                       std::vector<Claim>& claims);

/// Without a device: claims and removes the Python right before each of these operators of the main
/// thread, which calls it, times `fraction`. What is longer than 200 µs is work of its own and
/// stays. The operators may contain one another. O(n log n).
void claim_callers(const RuleContext& rules, std::span<const SliceId> ops, double fraction,
                   Finding& finding);

/// The union of the stretches: by time, disjoint. O(n log n).
std::vector<Interval> merged(std::vector<Interval> stretches);

/// Where a slice lies.
Interval interval_of(const Trace& trace, SliceId slice);

/// The median; zero of nothing.
Duration median_of(std::vector<Duration> durations);

/// The lengths of the counted steps' windows.
std::vector<Duration> step_lengths(const RuleContext& rules);

/// Adds the outermost slices of those names that start in counted steps.
void add_outermost(const RuleContext& rules, const std::vector<Nesting::Thread>& threads,
                   const NameSet& names, std::vector<SliceId>& found);

}  // namespace fathom
