// EnclosingOps: the operators around many host slices, found quickly in deep nests, too.
#pragma once

#include "analysis/structure/from_outside.h"
#include "analysis/structure/nesting.h"
#include "store/trace.h"

namespace fathom {

/// As enclosing_op(): q questions are O(q + slices). Thread-safe. Borrows the trace and nesting.
class EnclosingOps {
 public:
  EnclosingOps(const Trace& trace, const Nesting& nesting) : trace_(trace), nesting_(nesting) {
    notes_.resize(nesting.parent.size());
  }
  /// The innermost operator (cpu_op) around a host-work slice, itself included, or invalid.
  [[nodiscard]] SliceId of(SliceId slice) const {
    const auto is_op = [this](SliceId at) { return trace_.kind(at) == SliceKind::cpu_op; };
    return innermost_around(notes_, nesting_.parent, slice, is_op);
  }

 private:
  const Trace& trace_;
  const Nesting& nesting_;
  FromOutside notes_;
};

}  // namespace fathom
