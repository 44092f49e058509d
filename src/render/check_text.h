// The outcome of a check as text and as markdown.
#pragma once

#include <string>

#include "compare/check.h"
#include "render/style.h"

namespace fathom {

std::string render_check_text(const CheckedRuns& checked, const Style& style);

/// A table for a review or a step summary, what is over first: below 1,000,000 bytes (GitHub
/// refuses a summary above 1 MiB); budgets that do not fit are counted.
std::string render_check_markdown(const CheckedRuns& checked);

/// "68.57 ms → 75.9 ms (95 % interval 74.8 ms to 76.3 ms), at most 70.63 ms": the values.
std::string checked_values(const CheckedBudget& budget);
/// Why it is unknown, what the interval is of and does not cover; may be empty.
std::string checked_reason(const CheckedBudget& budget);

}  // namespace fathom
