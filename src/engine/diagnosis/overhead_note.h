// The note on what recording cost, beside a verdict.
#pragma once

#include <string>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// A sentence with the cost that the run measured, and a warning where the verdict may be an
/// artefact of it; empty where nothing was measured.
std::string overhead_note(const Trace& trace, VerdictId verdict);

}  // namespace fathom
