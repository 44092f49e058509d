// Levels, peaks and what stays of the memory that the framework's allocator gave out.
#include "rules/common/device_memory.h"

#include <algorithm>
#include <unordered_map>

namespace fathom {

DeviceMemory::DeviceMemory(const RuleContext& rules) : memory_(rules.trace().memory) {
  if (rules.device < 0) return;
  for (std::size_t row = 0; row < memory_.size(); ++row) {
    if (memory_.device_type[row] > 0 && memory_.device[row] == rules.device &&
        memory_.total_allocated[row] != kAbsent) {
      rows_.push_back(row);
    }
  }
  std::ranges::stable_sort(rows_, {}, [this](std::size_t row) { return memory_.time[row]; });
}

std::size_t DeviceMemory::first_from(Time time) const {
  const auto at = std::ranges::lower_bound(rows_, time, {},
                                           [this](std::size_t row) { return memory_.time[row]; });
  return static_cast<std::size_t>(at - rows_.begin());
}

std::optional<std::int64_t> DeviceMemory::level_at(Time time) const {
  const std::size_t next = first_from(time);
  if (next == 0) return {};
  return memory_.total_allocated[rows_[next - 1]];
}

std::optional<std::int64_t> DeviceMemory::peak_in(const Interval& stretch) const {
  std::optional<std::int64_t> peak;
  for (std::size_t i = first_from(stretch.begin);
       i < rows_.size() && memory_.time[rows_[i]] < stretch.end; ++i) {
    peak = std::max(peak.value_or(0), memory_.total_allocated[rows_[i]]);
  }
  return peak;
}

std::int64_t DeviceMemory::kept(const Interval& stretch, Time end) const {
  std::unordered_map<std::int64_t, std::int64_t> held;  // by address
  for (std::size_t i = first_from(stretch.begin); i < rows_.size() && memory_.time[rows_[i]] < end;
       ++i) {
    const std::size_t row = rows_[i];
    if (memory_.bytes[row] < 0) {
      held.erase(memory_.address[row]);
    } else if (memory_.time[row] < stretch.end) {
      held[memory_.address[row]] = memory_.bytes[row];
    }
  }
  std::int64_t sum = 0;
  for (const auto& [address, bytes] : held) sum += bytes;
  return sum;
}

}  // namespace fathom
