// What rules about the host share: its slices, and the idle device time that falls into a stretch.
#pragma once

#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "rules/common/support.h"

namespace fathom {

/// What makes a device wait for its host to come along: everything but input and allocation.
inline constexpr std::initializer_list<Bucket> kHostLate = {Bucket::sync, Bucket::dispatch,
                                                            Bucket::python, Bucket::launch_latency};

/// Host work of those names that starts in a counted step, in the order of the file.
std::vector<SliceId> host_slices(const RuleContext& rules, const NameSet& names);

/// The operators of a thread in counted steps that lie in no other operator, by time. O(thread).
std::vector<SliceId> top_operators(const RuleContext& rules, const Nesting::Thread& thread);

/// The outermost operator (cpu_op) around a slice, itself included, or invalid.
SliceId outermost_op(const RuleContext& rules, SliceId slice);

/// Claims what the device idles in counted steps during the stretch for one of the causes, times
/// `fraction`, at most `budget`. Returns Σ of the claims. O(log n + pieces inside).
Duration claim_idle(const RuleContext& rules, const Interval& stretch,
                    std::initializer_list<Bucket> causes, std::vector<Claim>& claims,
                    double fraction = 1.0, Duration budget = Duration::max());

/// Σ of the idle time that claim_idle() would claim for the stretches, which must not overlap.
Duration idle_in(const RuleContext& rules, std::span<const Interval> stretches,
                 std::initializer_list<Bucket> causes);

/// Was a backward pass or an optimizer step recorded in the counted steps?
bool is_training(const RuleContext& rules);

/// Is a Python frame (which may be invalid) of these names, or inside one of them? O(depth).
bool enclosing_frame(const RuleContext& rules, SliceId frame, const NameSet& names);

/// Does any Python frame exist?
bool has_frames(const RuleContext& rules);

/// Number of counted steps, at least 1.
std::int64_t step_count(const RuleContext& rules);

/// note below `warning` percent of the step, critical from `critical` on.
Weight weight_of(const RuleContext& rules, Duration time, double warning = 10,
                 double critical = 20);

/// Evidence with these slices as examples, the place of the costliest, and where the first was
/// called.
Evidence evidence_of(const RuleContext& rules, const std::vector<SliceId>& slices,
                     std::string text);

/// "3 calls", "1 call": a count with its noun.
std::string counted_noun(std::size_t count, std::string_view singular);

}  // namespace fathom
