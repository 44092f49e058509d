// A diagnosis as one screen of text, or as all of it.
#pragma once

#include <string>

#include "engine/diagnosis/diagnosis.h"
#include "render/style.h"

namespace fathom {

/// Capture, baseline, verdict with the accounting, findings by gain, and what to run next. Without
/// `all` it fits the screen of the style (40 lines where there is none, at least 20): the best
/// three findings, each in as much detail as there is room. `request` is what was asked for, so
/// that the commands that follow ask for the same part of the trace. Ends with a newline.
std::string render_diagnosis_text(const Diagnosis& diagnosis, const DiagnosisRequest& request,
                                  bool all, const Style& style);

}  // namespace fathom
