// Which line of the program sampled stacks show in stretches of time.
#pragma once

#include <optional>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// The line of the program's own code with the most time on a processor by the samples of stacks
/// that lie in these stretches, its share of that time, and between what the share lies by the
/// number of samples: 95 %, binomial (Wilson). Of the thread, where it was sampled, else of its
/// process. Unset where frames were recorded, which say it exactly, or where fewer than
/// kFewestSamples lie in them. O(samples + frames).
std::optional<Evidence> sampled_line(const RuleContext& rules, std::vector<Interval> stretches,
                                     TrackId track);

inline constexpr std::size_t kFewestSamples = 5;

}  // namespace fathom
