// How much copies or collectives moved, and how fast.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/time.h"

namespace fathom {

/// `count` > 0.
inline std::int64_t rounded_mean(std::int64_t total, std::uint64_t count) {
  return std::llround(static_cast<double>(total) / static_cast<double>(count));
}

/// Of those whose size is recorded.
class Volume {
 public:
  void add(std::int64_t bytes, Duration duration) {
    ++count_;
    if (__builtin_add_overflow(bytes_, bytes, &bytes_)) {
      bytes_ = std::numeric_limits<std::int64_t>::max();  // a damaged file; the sum means nothing
    }
    time_ += duration;
  }
  [[nodiscard]] std::optional<std::int64_t> bytes() const {
    return count_ == 0 ? std::nullopt : std::optional(bytes_);
  }
  /// Rounded.
  [[nodiscard]] std::optional<std::int64_t> mean_bytes() const {
    return count_ == 0 ? std::nullopt : std::optional(rounded_mean(bytes_, count_));
  }
  /// In 10^9 bytes per second.
  [[nodiscard]] std::optional<double> gb_per_s() const {
    const auto time = static_cast<double>(to_ns(time_));
    if (count_ == 0 || !(time > 0)) return {};
    return static_cast<double>(bytes_) / time;
  }

 private:
  std::uint64_t count_ = 0;
  std::int64_t bytes_ = 0;
  Duration time_{};
};

}  // namespace fathom
