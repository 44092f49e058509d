// Comparisons of two sides, each of one recording or of the ranks of one program.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/profile.h"

namespace fathom {

struct ComparedSides {
  /// One for each pair of recordings, by rank; a rank that one side lacks is in `notes`.
  std::vector<Comparison> pairs;
  std::vector<std::int64_t> ranks;  ///< By pair; kAbsent where it is not known.
  /// The pair to show: the one with the largest change.
  std::size_t shown = 0;
  std::vector<std::string> notes;
};

/// Ranks are compared with the same rank; recordings without one in their order. Errors:
/// invalid_argument where no recording has a counterpart.
Result<ComparedSides> compare_sides(const std::vector<Profile>& base,
                                    const std::vector<Profile>& now);

}  // namespace fathom
