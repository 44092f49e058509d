// Which line of the program recorded lines show in stretches of time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// Do recorded lines say where the thread was? O(1).
bool has_lines(const RuleContext& rules, TrackId track);

/// The line of the program's own code that the thread was in for most of these stretches, and how
/// long: exactly, by the timeline of lines. Counted are the steps that count; the place is that
/// line's longest part. Unset where the thread's lines were not recorded, or it was in none.
/// O(n log n + parts).
std::optional<Evidence> recorded_line(const RuleContext& rules, std::vector<Interval> stretches,
                                      TrackId track);

}  // namespace fathom
