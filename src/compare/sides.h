// Comparisons of two sides, each of one recording or of the ranks of one program.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/profile.h"
#include "compare/runs.h"

namespace fathom {

struct ComparedSides {
  /// One for each pair of recordings, by rank; a rank that one side lacks is in `notes`.
  std::vector<Comparison> pairs;
  std::vector<std::int64_t> ranks;  ///< By pair; kAbsent where it is not known.
  /// The pair to show: the one with the largest change.
  std::size_t shown = 0;
  std::vector<std::string> notes;
};

/// Of one run a side: compare_sides(). Of several: the runs of each rank as one, pooled, with the
/// interval that the number of runs allows (compare/time_ratio.h). A rank that not all runs of both
/// sides have is in `notes`.
Result<ComparedSides> compare_runs(const Runs& base, const Runs& now);

/// Ranks are compared with the same rank; recordings without one in their order. Errors:
/// invalid_argument where no recording has a counterpart.
Result<ComparedSides> compare_sides(const std::vector<Profile>& base,
                                    const std::vector<Profile>& now);

}  // namespace fathom
