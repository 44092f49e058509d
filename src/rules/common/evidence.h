// Evidence: what a finding rests on, with examples, places and numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/rule.h"

namespace fathom {

/// Evidence with these slices as examples, the place of the costliest, and where the first was
/// called.
Evidence evidence_of(const RuleContext& rules, const std::vector<SliceId>& slices,
                     std::string text);

/// Evidence that names the costliest of the blamed, and where the first of their operators was
/// called.
Evidence evidence_of(const RuleContext& rules, const Blamed& blamed, std::string text);

/// The costliest eight of the slices; of equally costly ones the first in the file.
std::vector<SliceId> costliest(const Trace& trace, std::vector<SliceId> slices);

/// note below `warning` percent of the step, critical from `critical` on.
Weight weight_of(const RuleContext& rules, Duration time, double warning = 10,
                 double critical = 20);

/// "3.2 ms (4.1 % of the step)": the time per counted step, and its share.
std::string per_step(const RuleContext& rules, Duration whole);

/// "3 calls", "1 call": a count with its noun.
std::string counted_noun(std::size_t count, std::string_view singular);

}  // namespace fathom
