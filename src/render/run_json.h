// The run behind a recording as JSON: the member "run" of a diagnosis.
#pragma once

#include "base/json_writer.h"
#include "engine/diagnosis/run_summary.h"

namespace fathom {

/// Writes one object, a line for each member; names and sentences are of bounded length.
void write_run(JsonWriter& json, const RunSummary& run);

}  // namespace fathom
