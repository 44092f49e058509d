// The machine before anything is measured, with its GPUs.
#pragma once

#include <string>

#include "measure/conditions.h"

namespace fathom::measure {

/// conditions_at_start(), and what NVML says of the GPUs: their limits, and who computes on them
/// before anything is measured. `nvml_path` as in monitor::SamplerOptions.
Conditions conditions_with_gpus(const std::string& nvml_path = {});

}  // namespace fathom::measure
