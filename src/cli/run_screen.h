// One screen about a run that has no trace to diagnose.
#pragma once

#include <string>

#include "cli/run_capture.h"
#include "render/style.h"

namespace fathom::cli {

/// Processes with their times and memory, and what was not recorded.
std::string run_screen(const Captured& captured, const Style& style);

}  // namespace fathom::cli
