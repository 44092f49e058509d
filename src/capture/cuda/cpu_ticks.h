// The counter of the processor that profilers take for a clock.
#pragma once

#include <cstdint>

namespace fathom::cuda {

/// 0 where the processor has none that programs read.
inline std::uint64_t cpu_ticks() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

}  // namespace fathom::cuda
