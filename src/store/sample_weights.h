// What the weights of sampled stacks are: time on a processor, or what another profiler counts.
#pragma once

#include <string>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// "samples", "bytes" and the like. Empty where weights are ns, as in our own recordings.
std::string_view weight_unit(const Trace& trace);
/// Do samples tell what threads waited for? Other profilers' do not.
bool waits_are_known(const Trace& trace);

}  // namespace fathom
