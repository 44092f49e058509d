// The note on what recording cost, beside a verdict.
#pragma once

#include <optional>
#include <string>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// A sentence with the cost that the run measured, and a warning where the verdict may be an
/// artefact of it; empty where nothing was measured. `due`: recording may be why steps were longer.
std::string overhead_note(const Trace& trace, VerdictId verdict, bool due);

/// Between which ratios, as the recorder wrote them, that cost lies in 19 of 20 cases.
struct OverheadInterval {
  std::string low;
  std::string high;
};
std::optional<OverheadInterval> overhead_interval(const Trace& trace);

}  // namespace fathom
