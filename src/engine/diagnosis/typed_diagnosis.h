// What is to be diagnosed, from options as an address has them.
#pragma once

#include "engine/device_peaks.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/query/typed.h"

namespace fathom {

/// A request with the peaks that it refers to.
struct TypedDiagnosis {
  DiagnosisRequest request;
  DevicePeaks peaks;
};

/// Every option that changes what `fathom diagnose --json` says. No option opens a file. Errors:
/// invalid_argument.
Result<TypedDiagnosis> typed_diagnosis(const TypedOptions& options);

}  // namespace fathom
