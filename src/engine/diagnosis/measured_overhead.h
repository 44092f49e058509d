// What recording cost, as the processes of a session measured it.
#pragma once

#include <string>

namespace fathom {

/// The member "overhead" of process-<pid>.json, as JSON: of the process of the lowest rank and
/// number whose steps were recorded; "" where there is none. docs/capture.md has its members.
std::string measured_overhead(const std::string& folder);

}  // namespace fathom
