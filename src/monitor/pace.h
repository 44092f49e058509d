// Pace: when the next sample is due, without drift; what could not be met is counted.
#pragma once

#include <cstdint>

namespace fathom::monitor {

/// Deadlines at start, start + period, start + 2 periods, … in ns. Pure: the caller waits.
class Pace {
 public:
  Pace(std::int64_t start, std::int64_t period) : start_(start), period_(period) {}

  [[nodiscard]] std::int64_t deadline() const {
    return start_ + static_cast<std::int64_t>(next_) * period_;
  }
  /// The tick that is met at `now`, which is at or after the deadline. Ticks that have passed
  /// meanwhile are missed, not made up for.
  std::uint64_t meet(std::int64_t now) {
    const std::uint64_t due = next_;
    const std::int64_t late = now - deadline();
    const auto passed = late < period_ ? 0 : static_cast<std::uint64_t>(late / period_);
    missed_ += passed;
    next_ = due + passed + 1;
    return due + passed;
  }
  /// From the next deadline on, every `stride`-th tick only.
  void skip(std::uint64_t ticks) { next_ += ticks; }
  [[nodiscard]] std::uint64_t missed() const { return missed_; }

 private:
  std::int64_t start_;
  std::int64_t period_;
  std::uint64_t next_ = 0;
  std::uint64_t missed_ = 0;
};

/// Keeps what sampling costs below a share of one core: where it costs more, it is done less often.
class CostLimit {
 public:
  /// `budget` is a share of one core; at most every `most`-th tick is used.
  CostLimit(double budget, std::uint64_t most) : budget_(budget), most_(most) {}

  /// After each sample: processor time and time since sampling began, ns. Every how many ticks to
  /// sample from now on.
  std::uint64_t stride(std::int64_t cpu, std::int64_t time) {
    if (time - time_ < kWindowNs) return stride_;
    const double share = static_cast<double>(cpu - cpu_) / static_cast<double>(time - time_);
    if (share > budget_ && stride_ < most_) {
      stride_ = stride_ * 2 < most_ ? stride_ * 2 : most_;
    } else if (share < budget_ / 4 && stride_ > 1) {
      stride_ /= 2;
    }
    cpu_ = cpu;
    time_ = time;
    return stride_;
  }

 private:
  static constexpr std::int64_t kWindowNs = 3'000'000'000;
  double budget_;
  std::uint64_t most_;
  std::uint64_t stride_ = 1;
  std::int64_t cpu_ = 0;
  std::int64_t time_ = 0;
};

}  // namespace fathom::monitor
