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

/// What edits were found to concern in this context, and which of that `replay` is about: so much
/// is edited, and looked for once.
struct ReplayedEdits {
  const Replay& replay;
  KeptEdits& kept;
};

/// For Replay::run() of `replayed`; without it, of all slices. Errors as what_if().
Result<WhatIfEdits> what_if_edits(const Context& context, const WhatIfRequest& request,
                                  const ReplayedEdits* replayed = nullptr);

}  // namespace fathom
