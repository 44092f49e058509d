// Changes, from options as an address has them, and the command that says the same.
#pragma once

#include <string>

#include "engine/device_peaks.h"
#include "engine/query/typed.h"
#include "engine/whatif/what_if.h"

namespace fathom {

/// A request with the peaks that it refers to.
struct TypedWhatIf {
  WhatIfRequest request;
  DevicePeaks peaks;
};

/// Every option of `fathom whatif` that changes what is replayed. No option opens a file. Errors:
/// invalid_argument, also where no change is named.
Result<TypedWhatIf> typed_what_if(const TypedOptions& options);

}  // namespace fathom
