// Slices of the host's work, by name and by where they stand.
#pragma once

#include <vector>

#include "rules/common/names.h"
#include "rules/rule.h"

namespace fathom {

/// Host work of those names that starts in a counted step, in the order of the file.
std::vector<SliceId> host_slices(const RuleContext& rules, const NameSet& names);

/// The operators of a thread in counted steps that lie in no other operator, by time. O(thread).
std::vector<SliceId> top_operators(const RuleContext& rules, const Nesting::Thread& thread);

/// Adds the outermost slices of those names that start in counted steps.
void add_outermost(const RuleContext& rules, const std::vector<Nesting::Thread>& threads,
                   const NameSet& names, std::vector<SliceId>& found);

}  // namespace fathom
