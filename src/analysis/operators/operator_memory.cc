// Sorts the allocator events and answers sums over stretches of time.
#include "analysis/operators/operator_memory.h"

#include <algorithm>
#include <numeric>

#include "analysis/util/row_order.h"

namespace fathom {
namespace {

// c10::DeviceType. torch counts CPU, MKLDNN and IDEEP as the host; CUDA, HIP, XPU and PrivateUse1
// as the device; the others as neither.
bool on_host(int device_type) { return device_type == 0 || device_type == 2 || device_type == 5; }
bool on_device(int device_type) {
  return device_type == 1 || device_type == 6 || device_type == 12 || device_type == 20;
}

/// First index >= `from` for which `before` no longer holds, by growing steps: cheap when it is
/// near.
template <typename Before>
std::size_t gallop(std::size_t from, std::size_t size, const Before& before) {
  std::size_t step = 1;
  std::size_t low = from;
  std::size_t high = from;
  while (high < size && before(high)) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = std::min(high, size);
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

OperatorMemory::OperatorMemory(const Trace& trace) {
  const MemoryEvents& memory = trace.memory;
  rows_.resize(memory.size());
  std::iota(rows_.begin(), rows_.end(), 0U);
  sort_rows(std::span<std::uint32_t>(rows_),
            [&](std::uint32_t a, std::uint32_t b) { return memory.time[a] < memory.time[b]; });
  times_.reserve(rows_.size());
  sums_.reserve(rows_.size() + 1);
  sums_.push_back({});
  for (const std::uint32_t row : rows_) {
    times_.push_back(memory.time[row]);
    MemoryBytes sum = sums_.back();
    if (on_host(memory.device_type[row])) sum.host += memory.bytes[row];
    if (on_device(memory.device_type[row])) sum.device += memory.bytes[row];
    sums_.push_back(sum);
  }
}

OperatorMemory::Range OperatorMemory::during(Time start, Time end, std::size_t hint) const {
  if (hint > 0 && (hint > size() || times_[hint - 1] >= start)) hint = 0;
  const std::size_t first = gallop(hint, size(), [&](std::size_t i) { return times_[i] < start; });
  const std::size_t last = gallop(first, size(), [&](std::size_t i) { return times_[i] <= end; });
  return {first, last};
}

}  // namespace fathom
