// The run behind a recording as JSON: the member "run" of a diagnosis.
#pragma once

#include <string>

#include "engine/diagnosis/run_summary.h"

namespace fathom {

/// One object; names and sentences are of bounded length. `indent` stands before its lines.
std::string run_json(const RunSummary& run, const std::string& indent);

}  // namespace fathom
