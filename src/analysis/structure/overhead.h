// What CUPTI reports as overhead although CUDA does it without a profiler, too.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace fathom {

/// The loading and compiling of code, and a full queue.
constexpr std::array<std::string_view, 4> kOverheadOfCuda = {
    "Lazy Function Loading", "Runtime Triggered Module Loading", "Driver Compiler",
    "Command Buffer Full"};

/// Is overhead of this name none of the profiler's?
constexpr bool is_overhead_of_cuda(std::string_view name) {
  return std::ranges::find(kOverheadOfCuda, name) != kOverheadOfCuda.end();
}

}  // namespace fathom
