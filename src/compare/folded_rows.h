// Rows that the file of a baseline had no room for, beside those of a recording that has all.
#pragma once

#include <set>
#include <string_view>

#include "compare/profile.h"

namespace fathom {

/// What operators are called that a file had no room for, a row for each bucket.
inline constexpr std::string_view kFoldedRows = "(further operators)";
/// The same of kernels of a row.
inline constexpr std::string_view kFoldedKernels = "(further kernels)";

/// Some of its rows were added up.
bool has_folded_rows(const Profile& profile);
/// Of which buckets.
std::set<AnyBucket> folded_buckets(const Profile& profile);

/// `profile` with those rows added up, too, that `other` may have added up: in a bucket where
/// `other` did so, rows whose key it has not, and that take at most twice as long as the shortest
/// that it kept. For what stands in one sum on one side is compared with one sum. Of the same
/// recording it has the rows of the one that has all. O(n log n).
Profile folded_like(const Profile& profile, const Profile& other);

}  // namespace fathom
