// Names that the program gives to streams, devices, locks and other things.
#pragma once

#include <cstdint>
#include <string_view>

#include "capture/nvtx/api.h"

namespace fathom::nvtx {

/// A fact `<kind>.<handle>`, the handle in hexadecimal.
void name_thing(std::string_view kind, std::uint64_t handle, const char* permanent_name);
/// A resource of any kind; threads get their names.
nvtxResourceHandle_t name_resource(const nvtxResourceAttributes_t* attributes);

}  // namespace fathom::nvtx
