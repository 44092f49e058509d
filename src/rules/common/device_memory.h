// The allocator's events of the diagnosed device, in order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// Rows of MemoryEvents. Without any, nothing was recorded of the device's memory.
class DeviceMemory {
 public:
  /// O(n log n). Borrows the context.
  explicit DeviceMemory(const RuleContext& rules);

  [[nodiscard]] const std::vector<std::size_t>& rows() const { return rows_; }
  /// What is allocated right before the moment; unset before the first event. O(log n).
  [[nodiscard]] std::optional<std::int64_t> level_at(Time time) const;
  /// The largest total during the stretch; unset where nothing happened in it.
  [[nodiscard]] std::optional<std::int64_t> peak_in(const Interval& stretch) const;
  /// Σ bytes of what was allocated in the stretch and not freed before `end`.
  [[nodiscard]] std::int64_t kept(const Interval& stretch, Time end) const;

 private:
  [[nodiscard]] std::size_t first_from(Time time) const;

  const MemoryEvents& memory_;
  std::vector<std::size_t> rows_;
};

}  // namespace fathom
