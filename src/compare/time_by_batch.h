// Time by batch of steps, of which most work is in few or in all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace fathom {

/// Nanoseconds by batch; what lies in no batch takes no room.
class TimeByBatch {
 public:
  TimeByBatch() = default;
  TimeByBatch(std::initializer_list<std::int64_t> times) : TimeByBatch(std::span(times)) {}
  explicit TimeByBatch(std::span<const std::int64_t> times) {
    for (std::size_t batch = 0; batch < times.size(); ++batch) add(batch, times[batch]);
  }

  /// O(1) in the order of batches.
  void add(std::size_t batch, std::int64_t time_ns) {
    if (time_ns == 0) return;
    const auto number = static_cast<std::uint32_t>(batch);
    const auto at = !times_.empty() && times_.back().first < number
                        ? times_.end()
                        : std::ranges::lower_bound(times_, number, {}, &Part::first);
    if (at != times_.end() && at->first == number) {
      at->second += time_ns;
    } else {
      times_.insert(at, {number, time_ns});
    }
  }
  /// Those of other batches, which begin at `offset`.
  void add(const TimeByBatch& other, std::size_t offset = 0) {
    if (times_.empty() && offset == 0) {
      times_ = other.times_;
      return;
    }
    for (const auto& [batch, time] : other.times_) add(offset + batch, time);
  }
  [[nodiscard]] std::int64_t operator[](std::size_t batch) const {
    const auto at = std::ranges::lower_bound(times_, batch, {}, &Part::first);
    return at == times_.end() || at->first != batch ? 0 : at->second;
  }
  /// Calls visit(batch, time) where there is any.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [batch, time] : times_) visit(std::size_t{batch}, time);
  }
  /// Of the first `batches`.
  [[nodiscard]] std::vector<std::int64_t> all(std::size_t batches) const {
    std::vector<std::int64_t> out(batches);
    for (const auto& [batch, time] : times_)
      if (batch < batches) out[batch] = time;
    return out;
  }
  friend bool operator==(const TimeByBatch&, const TimeByBatch&) = default;

 private:
  using Part = std::pair<std::uint32_t, std::int64_t>;
  std::vector<Part> times_;  // by batch
};

}  // namespace fathom
