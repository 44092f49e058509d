// Allocator bytes per operator, by torch's rule: what was recorded during it, on whatever thread.
#pragma once

#include <cstdint>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Sums of allocated less freed bytes.
struct MemoryBytes {
  std::int64_t host = 0;
  std::int64_t device = 0;
  MemoryBytes& operator+=(const MemoryBytes& other) {
    host += other.host;
    device += other.device;
    return *this;
  }
  friend MemoryBytes operator-(MemoryBytes a, const MemoryBytes& b) {
    return {a.host - b.host, a.device - b.device};
  }
  friend bool operator==(const MemoryBytes&, const MemoryBytes&) = default;
};

/// The allocator events of a trace, sorted by time, with running sums.
class OperatorMemory {
 public:
  explicit OperatorMemory(const Trace& trace);

  [[nodiscard]] std::size_t size() const { return times_.size(); }
  [[nodiscard]] Time time(std::size_t i) const { return times_[i]; }
  [[nodiscard]] std::uint32_t row(std::size_t i) const { return rows_[i]; }  ///< In Trace::memory.

  /// A stretch [first, last) of the sorted events.
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  [[nodiscard]] MemoryBytes sum(Range range) const {
    return sums_[range.last] - sums_[range.first];
  }
  /// The events with start <= time <= end. `hint` is the first of an earlier, nearby answer; calls
  /// in order of start are fast.
  [[nodiscard]] Range during(Time start, Time end, std::size_t hint) const;

 private:
  std::vector<Time> times_;
  std::vector<std::uint32_t> rows_;
  std::vector<MemoryBytes> sums_;  // sums_[i]: of the events before i
};

}  // namespace fathom
