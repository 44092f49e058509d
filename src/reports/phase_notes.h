// The sentence that says by which evidence phases were recognised.
#pragma once

#include <string>

#include "analysis/structure/phases.h"

namespace fathom {

/// "Phases come from annotations (12), autograd sequence numbers (340)." or that nothing shows
/// phases.
std::string phase_note(const Phases& phases);

}  // namespace fathom
