// The slice that a request names.
#pragma once

#include "server/route.h"

namespace fathom::server {

/// `id`. Error: not_found.
Result<SliceId> slice_of(const Call& call);

}  // namespace fathom::server
