// The most memory that the framework's allocator held on each device.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/context.h"

namespace fathom {

struct PeakMemory {
  struct Peak {
    std::int32_t device = 0;
    std::int64_t allocated =
        kAbsent;                      ///< Largest recorded "Total Allocated", bytes; kAbsent: none.
    std::int64_t reserved = kAbsent;  ///< Largest recorded "Total Reserved", bytes; kAbsent: none.
  };
  std::vector<Peak> peaks;  ///< By device; only devices (not the host) with allocator events.
  [[nodiscard]] const Peak* of(std::int32_t device) const;
};

/// Over the allocator events in the selected time. O(n).
PeakMemory compute_peak_memory(const Context& context);

}  // namespace fathom
