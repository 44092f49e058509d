// ClockFit: from CUPTI's clock to the host's, by readings of both, with the error that it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::cuda {

/// Two clocks of one machine do not drift apart by more than this share: somebody set one.
inline constexpr double kMostDrift = 500e-6;

/// CUPTI's clock was read between two readings of CLOCK_MONOTONIC.
struct ClockReading {
  std::int64_t cupti = 0;
  std::int64_t before = 0;
  std::int64_t after = 0;
  [[nodiscard]] std::int64_t host() const { return before + (after - before) / 2; }
  /// The host's clock was at most so far from host() when CUPTI's was read.
  [[nodiscard]] std::int64_t error() const { return (after - before + 1) / 2; }
};

/// How well the clocks are related.
struct ClockQuality {
  std::size_t readings = 0;  ///< That were used, in all.
  std::size_t jumps = 0;     ///< Somebody set one of the clocks.
  std::int64_t error = 0;    ///< Ns: no time is off by more, as far as the readings show.
  double drift_ppm = 0;      ///< CUPTI's clock against the host's, over all since the last jump.
};

/// Times between two readings lie on the line through them, times outside on the nearest line, so
/// that neither drift nor a slewed clock adds up. Not thread-safe.
class ClockFit {
 public:
  /// A further reading; the first may throw for lack of memory. A wide one (the thread was
  /// interrupted between its parts) is not used where a better one is at hand. Call it every
  /// fraction of a second.
  void add(const ClockReading& reading);
  /// CLOCK_MONOTONIC when CUPTI's clock was there. As it is where there is no reading.
  [[nodiscard]] std::int64_t host(std::int64_t cupti) const;
  /// CUPTI's clock when CLOCK_MONOTONIC was there: the other way round, to the nanosecond.
  [[nodiscard]] std::int64_t cupti(std::int64_t host) const;
  [[nodiscard]] bool empty() const { return readings_.empty(); }
  /// False while the last reading contradicts those before: the next will show whether a clock was
  /// set. Times that came since had better wait.
  [[nodiscard]] bool settled() const { return contradictions_ == 0; }
  /// One reading after the other contradicted those before: what is read does not count like the
  /// host's clock, by no slope. From then on no reading is taken, and what the clocks were before
  /// holds.
  [[nodiscard]] bool unknown() const { return unknown_; }
  [[nodiscard]] const ClockQuality& quality() const { return quality_; }

 private:
  struct Line {
    ClockReading at;
    double slope = 1;  ///< Ns of the host per ns of CUPTI.
    [[nodiscard]] std::int64_t host(std::int64_t cupti) const;
  };
  void jump(const ClockReading& reading);
  [[nodiscard]] Line line_at(std::int64_t cupti) const;
  void judge(const ClockReading& reading);

  std::vector<ClockReading> readings_;  ///< Since the last jump, the newest of them; in order.
  std::vector<ClockReading> before_;    ///< The two before it: records come late.
  std::vector<ClockReading> settled_;   ///< The last two before the first contradiction in a row.
  std::size_t contradictions_ = 0;      ///< In a row.
  bool unknown_ = false;
  ClockReading first_;  ///< Since the last jump.
  ClockQuality quality_;
};

}  // namespace fathom::cuda
