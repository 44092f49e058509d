// Says in a sentence what told the phases of a trace.
#pragma once

#include <string>

#include "analysis/structure/phases.h"

namespace fathom {

/// "Phases come from annotations (12), autograd sequence numbers (340)." or that nothing tells.
std::string phase_note(const Phases& phases);

}  // namespace fathom
