// Distinct call stacks and their time, for flame graphs.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/context.h"
#include "analysis/util/folded_stack.h"

namespace fathom {

enum class StackMetric : std::uint8_t { host, device };

/// Stacks with time, largest first. Python frames, annotations, operators and calls of a thread are
/// nested together by their times.
///  - host: an instant of a thread belongs to the innermost thing that is open, of things that
///  overlap without
///    nesting to the one that began last; the sum over all stacks is the time that the threads were
///    inside of anything.
///  - device: the stack around the launch of an activity, without the call itself, with the
///  activity's name as
///    leaf; the sum is the duration of all selected activities.
/// What is deeper than 1000 entries belongs to the entry there.
std::vector<FoldedStack> compute_folded_stacks(const Context& context, StackMetric metric);

}  // namespace fathom
