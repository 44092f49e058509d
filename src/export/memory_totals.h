// Allocator events as counters: what is allocated and reserved after each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "store/trace.h"

namespace fathom {

/// Sums up what the recorder did not.
class MemoryTotals {
 public:
  struct Total {
    std::int64_t allocated = 0;       ///< Bytes.
    std::int64_t reserved = kAbsent;  ///< Bytes; kAbsent where it was never said.
  };

  /// The totals after this event; call in the order of time.
  const Total& add(const MemoryEvents& memory, std::size_t row) {
    Total& total = totals_[{memory.device_type[row], memory.device[row]}];
    const std::int64_t said = memory.total_allocated[row];
    total.allocated = said != kAbsent ? said : total.allocated + memory.bytes[row];
    if (memory.total_reserved[row] != kAbsent) total.reserved = memory.total_reserved[row];
    return total;
  }

  /// "memory CPU", "memory device 1".
  static std::string series(const MemoryEvents& memory, std::size_t row) {
    if (memory.device_type[row] == 0) return "memory CPU";
    return "memory device " + std::to_string(memory.device[row] < 0 ? 0 : memory.device[row]);
  }

 private:
  std::map<std::tuple<std::int8_t, std::int8_t>, Total> totals_;
};

}  // namespace fathom
