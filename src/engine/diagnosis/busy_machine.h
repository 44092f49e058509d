// What other programs that share the processors leave uncertain of operators' times.
#pragma once

#include <span>
#include <vector>

#include "analysis/structure/steps.h"
#include "engine/diagnosis/diagnosis.h"
#include "store/trace.h"

namespace fathom {

/// Of findings about operators of a processor: a team of threads of which one is without a
/// processor looks like a long operator, which nothing in the recording tells from work. Where the
/// run measured that the thread or the machine had too few processors, or, where nothing measured
/// it, counted steps of as many operators differ by much, none of them is of high confidence, and
/// each names that. `device`: the diagnosed one; nothing is changed where there is one.
void doubt_operators(const Trace& trace, std::span<const Step* const> steps, std::int32_t device,
                     std::vector<RankedFinding>& findings);

}  // namespace fathom
