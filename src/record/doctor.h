// Everything that decides what may be recorded on this machine, in the order to show it.
#pragma once

#include <vector>

#include "capture/doctor/checks.h"

namespace fathom::record {

/// Driver, CUPTI, telemetry, Python, permissions and limits: what is available, what is lost where
/// it is not, and what would allow it. The checks of a section stand together. Takes up to a few
/// seconds: it starts programs, and asks the driver.
std::vector<capture::Check> doctor_checks();

}  // namespace fathom::record
