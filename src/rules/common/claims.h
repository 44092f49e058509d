// Claims: which pieces of time a finding would give back. CONTRIBUTING.md says how they are
// divided.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "rules/common/edits.h"
#include "rules/rule.h"

namespace fathom {

/// What makes a device wait for its host to come along: everything but input and allocation.
inline constexpr std::initializer_list<Bucket> kHostLate = {Bucket::sync, Bucket::dispatch,
                                                            Bucket::python, Bucket::launch_latency};

/// Causes of idleness that lie with the host, input apart.
inline constexpr std::initializer_list<Bucket> kHostWaits = {
    Bucket::allocation, Bucket::sync, Bucket::dispatch, Bucket::python, Bucket::launch_latency};

/// The longest stretch of Python that still counts as calling an operator.
inline constexpr Duration kLongestCall = duration_ns(200'000);

/// Time of an activity credited to it (Accounting::credited), or, without a device, the host
/// slice's own time; times `fraction`.
Claim claim(const RuleContext& rules, SliceId slice, double fraction = 1.0);

/// The counted part of a gap, times `fraction`.
Claim claim_gap(const RuleContext& rules, std::uint32_t gap, double fraction = 1.0);

/// A claim on a piece of the main thread, which is one of Accounting::host.
Claim piece_claim(const RuleContext& rules, const HostPiece& piece, Duration time);

/// Σ of the claims.
Duration total(const std::vector<Claim>& claims);

/// Σ of what the claims are parts of: the time that a finding is about.
Duration whole(const std::vector<Claim>& claims);

/// The family that this time of the main thread belongs to.
Family family_of(HostBucket bucket);

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

/// Claims the time that these host slices make the device wait: the idle pieces of the given causes
/// while any of them ran, times `fraction`. Without a device: the own time of the slices and of
/// everything inside them. Each once, even where slices repeat, lie in each other or beside each
/// other. O(n log n + pieces and slices inside).
void claim_host_work(const RuleContext& rules, std::span<const SliceId> slices, double fraction,
                     std::vector<Claim>& claims,
                     std::initializer_list<Bucket> causes = {Bucket::dispatch, Bucket::python});

/// Claims what the device idles in counted steps during the stretch for one of the causes, times
/// `fraction`, at most `budget`. Returns Σ of the claims. O(log n + pieces inside).
Duration claim_idle(const RuleContext& rules, const Interval& stretch,
                    std::initializer_list<Bucket> causes, std::vector<Claim>& claims,
                    double fraction = 1.0, Duration budget = Duration::max());

/// Σ of the idle time that claim_idle() would claim for the stretches, which must not overlap.
Duration idle_in(const RuleContext& rules, std::span<const Interval> stretches,
                 std::initializer_list<Bucket> causes);

/// Claims what the stretch costs: with a device, its idle time for which the host is to blame; else
/// the main thread's time. Returns the time found.
Duration claim_stretch(const RuleContext& rules, const Interval& stretch,
                       std::vector<Claim>& claims);

/// Without a device: claims what the main thread spends in counted steps during the stretch in
/// these buckets (any of them, where none is named), at most `budget`, and removes it, as far as it
/// lies in a slice. Returns the time found. O(log n + pieces inside).
Duration claim_main_thread(const RuleContext& rules, const Interval& stretch,
                           std::initializer_list<HostBucket> buckets, std::vector<Claim>& claims,
                           RemovedTime* removed = nullptr, Duration budget = Duration::max());

/// Without a device: claims and removes the Python right before each of these operators of the main
/// thread, which calls it, times `fraction`. What is longer than 200 µs is work of its own and
/// stays. The operators may contain one another. O(n log n).
void claim_callers(const RuleContext& rules, std::span<const SliceId> ops, double fraction,
                   Finding& finding);

}  // namespace fathom
