// Where the wall time of a whole run went: start, imports, compilation, steps, checkpoints, exit.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "analysis/machine/run_usage.h"
#include "store/trace.h"

namespace fathom {

/// A part of the run, of which no instant is in two.
struct RunPart {
  std::string_view name;
  Duration time{};
  std::size_t count = 0;    ///< Of the stretches that it is made of.
  std::string_view advice;  ///< What shortens it; "" for the steps.
};

struct WholeRun {
  Duration wall{};  ///< Of the process; the parts sum to it.
  Duration steps{};
  Duration in_depth{};         ///< Of it, recorded by torch.profiler.
  std::vector<RunPart> parts;  ///< In the order of a run; none is empty.

  /// Where the rest of the run, without the recorder's own work, takes longer than the steps: the
  /// parts of it, at most two, on which advice is worth most. What comes again and again is before
  /// what a longer run has only once, then the longer before the shorter. Parts that are longer
  /// than all steps stand alone.
  [[nodiscard]] std::vector<const RunPart*> beside_steps() const;
};

/// `main`: the process whose steps they are. `wall` is 0 where its times are not known.
/// O(n log n).
WholeRun whole_run(const Trace& trace, const ProcessRun& main, const Steps& steps);

}  // namespace fathom
