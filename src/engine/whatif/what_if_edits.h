// Turns the options of a what-if into edits of slices.
#pragma once

#include <cstdint>
#include <string>

#include "engine/whatif/what_if.h"
#include "replay/replay.h"

namespace fathom {

/// The edits for the best and the worst that changes may come to.
struct WhatIfEdits {
  Edits best;
  Edits worst;
  std::vector<WhatIfChange> changes;
};

/// How many calls launch an activity. O(slices).
std::uint64_t count_launches(const Context& context);

struct KeptEdits;

/// What `kept` holds of the context is not looked for again; null: all of it is. Errors as
/// what_if().
Result<WhatIfEdits> what_if_edits(const Context& context, const WhatIfRequest& request,
                                  KeptEdits* kept = nullptr);

}  // namespace fathom
