// The same kernels on both sides, where one side recorded no operators.
#pragma once

#include <vector>

#include "compare/align.h"

namespace fathom {

/// Has nothing on the device an operator, so that every kernel stands for itself? Not where nothing
/// ran there.
bool without_operators(const std::vector<const ProfileRow*>& rows);

/// Operators of one side and kernels of the other that stand for themselves, by the names of
/// kernels, one bucket at a time. Operators that share a kernel are one work. O(n log n).
std::vector<AlignedWork> same_kernels(const std::vector<const ProfileRow*>& base,
                                      const std::vector<const ProfileRow*>& now);

/// Of work that was aligned so, the side that recorded operators.
const std::vector<const ProfileRow*>& with_operators(const AlignedWork& work);

}  // namespace fathom
