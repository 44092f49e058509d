// Source files that a session folder keeps, beside the lines that are profiled.
#pragma once

#include <string>

#include "store/trace.h"

namespace fathom {

/// Adds the text of each file that trace.lines names, as far as the folder keeps it below
/// `sources`.
void add_sources(Trace& trace, const std::string& folder);

}  // namespace fathom
