// What a training step does before its forward pass and after its backward pass.
#pragma once

#include "analysis/structure/nesting.h"
#include "analysis/structure/phases.h"
#include "store/trace.h"

namespace fathom {

/// Takes away the phase forward that sequence numbers gave to what is no part of a forward pass.
/// Autograd numbers every operator that runs while gradients are on; one that made a node is known
/// by the number of the next, which is larger, and by a node of the backward pass that has its
/// number. On each thread, between a backward pass and the next operator that made such a node:
///  - the outermost ranges of the program are parts of their own, Phases::ranges;
///  - what else runs after the last backward pass of an annotated or repeated step, and in no
///    module, is `other`. What runs before the first such operator may be layers that are not
///    trained, and stays.
/// Steps without a backward pass are left as they are, and so is everything where a trace has no
/// sequence numbers or no backward pass. O(n log n).
void mark_around_passes(const Trace& trace, const Nesting& nesting, Phases& phases);

}  // namespace fathom
