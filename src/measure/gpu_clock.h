// The clock of one GPU and why it is not higher, asked of NVML.
#pragma once

#include <functional>
#include <string>

#include "measure/clock_rule.h"

namespace fathom::measure {

/// Reads the GPU of this UUID ("GPU-…"); empty where NVML is not there or does not know it. The
/// calls take some microseconds to milliseconds. `nvml_path`: as of monitor::Nvml::open().
std::function<ClockReading()> clock_of_gpu(const std::string& uuid,
                                           const std::string& nvml_path = {});

}  // namespace fathom::measure
