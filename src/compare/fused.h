// Which operators a generated kernel replaced, by its name.
#pragma once

#include <string_view>
#include <vector>

#include "compare/align.h"

namespace fathom {

/// What TorchInductor lists in the name of a kernel: "add_mul_tanh_0" of
/// "triton_poi_fused_add_mul_tanh_0" and of "graph_0_cpp_fused_add_mul_tanh_0"; empty for other
/// names.
std::string_view fused_list(std::string_view name);

/// Operators of one side and the kernels of the other that list them, in either direction. Those
/// that share a kernel or an operator are one work. A kernel lists names without their namespace
/// and their underscores at both ends. O(n log n) in rows and in the length of the names.
std::vector<AlignedWork> fused_work(const std::vector<const ProfileRow*>& base,
                                    const std::vector<const ProfileRow*>& now);

}  // namespace fathom
