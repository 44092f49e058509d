// Which telemetry can be recorded here: lines of `fathom doctor`.
#pragma once

#include <string>
#include <vector>

#include "base/proc_file.h"
#include "monitor/ability.h"

namespace fathom::monitor {

/// One line per source, and one more for each of its counters that is missing. Opens the sources
/// and closes them again; takes milliseconds, with a GPU up to a second.
std::vector<Ability> telemetry_abilities(const Roots& roots = {},
                                         const std::string& nvml_path = {});

}  // namespace fathom::monitor
