// A diagnosis as JSON, schema fathom.diagnosis/1 (docs/diagnosis.md).
#pragma once

#include <string>

#include "engine/diagnosis.h"

namespace fathom {

/// One object, indented by `indent`, no final newline. Bounded: at most kJsonFindings findings,
/// eight evidence slices each.
std::string render_diagnosis_json(const Diagnosis& diagnosis, std::string_view indent = {});

inline constexpr std::size_t kJsonFindings = 50;

}  // namespace fathom
