// LineOwners: which statement a slice of a host thread, or a moment of it, belongs to.
#pragma once

#include <vector>

#include "analysis/context.h"
#include "analysis/lines/line_runs.h"
#include "analysis/lines/line_shares.h"
#include "analysis/structure/forward_ops.h"
#include "analysis/structure/from_outside.h"

namespace fathom {

/// Borrows the trace, its nesting and the runs.
class LineOwners {
 public:
  LineOwners(const Context& context, const LineRuns& runs);

  struct Owner {
    LineShares::Key line;
    bool backward = false;  ///< It ran the backward pass of an operator of that line.
  };
  /// Of a slice of host work; of an invalid one nobody.
  [[nodiscard]] Owner of(SliceId slice) const;
  /// Of a moment of a host thread.
  [[nodiscard]] Owner at(TrackId track, Time time) const;
  /// The thread whose statements explain what `track` does, or nullptr.
  [[nodiscard]] const LineRuns::Thread* thread_of(TrackId track) const;

 private:
  [[nodiscard]] LineShares::Key line_at(TrackId track, Time time) const;
  /// The forward operator of the innermost operator of the backward pass around a slice.
  [[nodiscard]] SliceId forward_of(SliceId slice) const;

  const Trace& trace_;
  const Nesting& nesting_;
  const LineRuns& runs_;
  ForwardOps forward_;
  FromOutside notes_;
  std::vector<bool> backward_;                 // by track: operators of the backward pass run there
  std::vector<const Nesting::Thread*> works_;  // by track
};

}  // namespace fathom
