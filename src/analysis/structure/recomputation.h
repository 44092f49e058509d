// Operators of the forward pass that the backward pass runs again: activation checkpointing.
#pragma once

#include <vector>

#include "analysis/structure/nesting.h"
#include "store/trace.h"

namespace fathom {

/// What is computed again. docs/metrics.md, "Recomputation", says how it is recognised.
struct Recomputation {
  std::vector<SliceId> operators;  ///< Those that no other recomputed one called; by thread, time.
  std::vector<bool> inside;        ///< By slice: it is one of them or runs inside one; or empty.
  [[nodiscard]] bool contains(SliceId host) const {
    return host.valid() && !inside.empty() && inside[host.row()];
  }
};

/// O(host slices).
Recomputation find_recomputation(const Trace& trace, const Nesting& nesting);

}  // namespace fathom
