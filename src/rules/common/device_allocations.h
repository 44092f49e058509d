// Allocations that show a device of which no work was recorded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rules/rule.h"

namespace fathom {

/// Allocations of a device's memory, where no work of a device was recorded and most allocations
/// are such; else 0. O(allocations).
inline std::size_t device_allocations(const RuleContext& rules) {
  if (rules.device >= 0) return 0;
  const auto& memory = rules.trace().memory;
  const auto of_devices = static_cast<std::size_t>(
      std::ranges::count_if(memory.device_type, [](std::int8_t type) { return type > 0; }));
  return 2 * of_devices > memory.size() ? of_devices : 0;
}

}  // namespace fathom
