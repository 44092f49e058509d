// Phases that nothing states, inferred from the order of calls.
#pragma once

#include "analysis/structure/nesting.h"
#include "analysis/structure/phases.h"
#include "store/trace.h"

namespace fathom {

/// Adds, on the thread of each process that runs most operators outside of the backward pass:
///  - forward, where autograd wrote no sequence numbers: operators between a step's begin and the
///    first operator of its backward pass, those that zero gradients left out;
///  - optimizer, where no optimizer is annotated: the longest run of elementwise operators between
///  a
///    step's last backward operator and its end, if it has at least as many updates in place as
///    gradients were accumulated, and at most eight times as many.
/// Steps without a backward pass are left as they are. `phases` are complete otherwise. O(n), and
/// nothing to do where a trace has sequence numbers and an annotated optimizer, or no backward
/// pass.
void infer_phases(const Trace& trace, const Nesting& nesting, Phases& phases);

}  // namespace fathom
