// Properties of devices, as torch.profiler and our own recorder write them.
#pragma once

#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Of a JSON list of objects; empty where it is none.
std::vector<Device> read_devices(std::string_view json);

}  // namespace fathom
