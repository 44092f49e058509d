// Finds the largest totals that the allocator recorded.
#include "analysis/operators/peak_memory.h"

#include <algorithm>
#include <map>

namespace fathom {

const PeakMemory::Peak* PeakMemory::of(std::int32_t device) const {
  const auto at = std::ranges::lower_bound(peaks, device, {}, &Peak::device);
  return at == peaks.end() || at->device != device ? nullptr : &*at;
}

PeakMemory compute_peak_memory(const Context& context) {
  const MemoryEvents& memory = context.trace.memory;
  const Selector selector = context.selector();
  std::map<std::int32_t, PeakMemory::Peak> peaks;
  for (std::size_t row = 0; row < memory.size(); ++row) {
    if (memory.device[row] < 0 || memory.device_type[row] <= 0 || !selector.time(memory.time[row]))
      continue;
    PeakMemory::Peak& peak = peaks[memory.device[row]];
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character.
    peak.device = memory.device[row];
    peak.allocated = std::max(peak.allocated, memory.total_allocated[row]);
    peak.reserved = std::max(peak.reserved, memory.total_reserved[row]);
  }
  PeakMemory result;
  for (const auto& [device, peak] : peaks) result.peaks.push_back(peak);
  return result;
}

}  // namespace fathom
