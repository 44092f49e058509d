// Results of a bench over several values of one thing.
#pragma once

#include <optional>

#include "measure/bisect.h"
#include "measure/crossover.h"
#include "measure/sweep.h"

namespace fathom::cli {

/// A sweep or, where `crossover` is set, the sizes of a crossover.
struct VariedResult {
  measure::BenchOptions options;
  measure::VariedOutcome outcome;
  measure::SweepVerdict verdict;
  std::optional<measure::CrossoverOutcome> crossover;  ///< Without its points, which are moved.

  [[nodiscard]] bool paired() const { return !options.base.empty(); }
};

/// --bisect.
struct BisectResult {
  measure::BisectOptions options;
  measure::BisectOutcome outcome;
};

}  // namespace fathom::cli
