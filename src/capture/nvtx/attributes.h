// Event attributes: what a mark or range says of itself.
#pragma once

#include <cstdint>

#include "capture/inside/details.h"
#include "capture/nvtx/api.h"
#include "capture/nvtx/domains.h"

namespace fathom::nvtx {

struct Attributes {
  const char* name = "";
  const inside::Details* details = nullptr;  ///< Null where there are none.
  std::uint64_t payload = 0;
};

/// Of a plain message.
Attributes attributes_of(const Domain* domain, const char* permanent_name);
/// Of all that is given; fields beyond the program's own size are not read.
Attributes attributes_of(const Domain* domain, const nvtxEventAttributes_t* attributes);

}  // namespace fathom::nvtx
