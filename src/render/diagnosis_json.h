// A diagnosis as JSON, schema fathom.diagnosis/1 (docs/diagnosis.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// Its size is bounded: that many findings and steps, eight slices per piece of evidence, and texts
/// of that many columns, longer ones shortened in the middle.
inline constexpr std::size_t kJsonFindings = 50;
inline constexpr std::size_t kJsonSteps = 200;
inline constexpr std::size_t kJsonText = 1000;

/// One object, indented by `indent`, no final newline.
std::string render_diagnosis_json(const Diagnosis& diagnosis, std::string_view indent = {});

}  // namespace fathom
