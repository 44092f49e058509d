// What stands between the same siblings on both sides.
#pragma once

#include <vector>

#include "compare/align.h"

namespace fathom {

/// Of rows that are left over, those of one parent that lie between the same matched siblings, in
/// the order of their first calls. Siblings whose order differs between the sides divide nothing:
/// those of the longest common order do. Without a matched sibling, or where the order is not
/// known, nothing. All rows are of one parent. O(n log n).
std::vector<AlignedWork> between_siblings(const std::vector<AlignedWork>& matched,
                                          const std::vector<const ProfileRow*>& base,
                                          const std::vector<const ProfileRow*>& now);

}  // namespace fathom
