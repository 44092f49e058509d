// A diagnosis as one screen of text.
#pragma once

#include <cstddef>
#include <string>

#include "engine/diagnosis.h"
#include "render/style.h"

namespace fathom {

struct DiagnosisView {
  std::size_t findings = 3;  ///< How many to show in full.
  bool rules = false;        ///< Also what the silent and abstaining rules say.
};

/// Baseline, accounting, verdict, the best findings, what to run next. Ends with a newline.
std::string render_diagnosis_text(const Diagnosis& diagnosis, const DiagnosisView& view,
                                  const Style& style);

}  // namespace fathom
