// From decoded samples of a GPU's hardware counters to points of counter tracks. No CUPTI here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "capture/cuda/clock_fit.h"
#include "capture/cuda/pm_plan.h"

namespace fathom::cuda {

/// When a sample was taken, as CUPTI reports it.
struct PmTime {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What one look at a GPU brought.
struct PmBatch {
  std::vector<PmTime> times;        ///< Of each sample, in order.
  std::vector<double> values;       ///< One for each track of the plan, sample after sample.
  bool overflowed = false;          ///< The hardware had no room: samples are missing after these.
  std::int64_t started = 0;         ///< CLOCK_MONOTONIC before sampling was (last) begun …
  std::int64_t decoded = 0;         ///< … and after this look: no sample lies outside.
  std::uint64_t ticks_started = 0;  ///< The processor's counter at these moments; 0: unknown.
  std::uint64_t ticks_decoded = 0;
};

/// A value of a track, that holds until the next.
struct PmPoint {
  std::int64_t time = 0;  ///< CLOCK_MONOTONIC.
  std::size_t track = 0;  ///< Of the plan.
  double value = 0;
};

/// What could not be turned into points.
struct PmCounts {
  std::uint64_t samples = 0;  ///< That came.
  std::uint64_t lost = 0;     ///< That the hardware buffer had no room for, by the gap they left.
  std::uint64_t overflows = 0;
  std::uint64_t without_time = 0;  ///< Ends before it begins, or before the one before it.
  std::uint64_t by_cpu = 0;        ///< Whose times are of the processor's counter.
  std::uint64_t of_no_clock = 0;   ///< Whose times are unknown: of a clock that fits no other.
};

/// Samples carry times of CUPTI's clock. Where they do not fit between the moments that they were
/// asked for and came, they are of another clock; one that fits there is taken for CUPTI's. How far
/// CUPTI's is ahead of that one is known to lie between two bounds, which each look tightens and
/// which drift apart by kMostDrift meanwhile. All of it on CUPTI's clock, which is read near the
/// samples: the other one may be so far from it that what is not known of a rate, over that
/// distance, is seconds.
class PmClock {
 public:
  /// `begin` and `end` of the first and the last sample as they came; `started` and `decoded` as of
  /// PmBatch, on CUPTI's clock. Batches in the order of time.
  void fit(std::int64_t begin, std::int64_t end, std::int64_t started, std::int64_t decoded);
  /// CUPTI's time of a sample of the batch that was fitted last.
  [[nodiscard]] std::int64_t cupti(std::int64_t time) const { return time + shift_; }
  [[nodiscard]] std::int64_t shift() const { return shift_; }
  /// Beyond that of CUPTI's clock: no time of cupti() so far was off by more.
  [[nodiscard]] std::int64_t error() const { return error_; }

 private:
  void move_to(std::int64_t time);

  bool own_ = true;  // CUPTI's clock, as far as is known
  bool any_ = false;
  std::int64_t at_ = 0;      // what follows holds then, on the samples' clock
  std::int64_t least_ = 0;   // by which CUPTI's clock is ahead …
  std::int64_t most_ = 0;    // … and at most
  std::int64_t behind_ = 0;  // how far the shift stays below most_: half of their first distance
  std::int64_t doubt_ = 0;   // what error() is if the samples are of another clock
  std::int64_t shift_ = 0;
  std::int64_t error_ = 0;
};

/// The samples of one GPU. Not thread-safe.
class PmSeries {
 public:
  explicit PmSeries(PmPlan plan) : plan_(std::move(plan)) {}
  /// `clock` is CUPTI's. Points in the order of time; a track whose value was not defined (nothing
  /// ran) has none. Percent lie from 0 to 100: the counters of one sample are not read in the very
  /// same moment, so that some say a little more.
  void convert(const PmBatch& batch, const ClockFit& clock, std::vector<PmPoint>& points);
  [[nodiscard]] const PmCounts& counts() const { return counts_; }
  [[nodiscard]] const PmClock& clock() const { return clock_; }

 private:
  /// A moment by the processor's counter and by the host's clock.
  struct Moment {
    std::uint64_t ticks = 0;
    std::int64_t host = 0;
  };
  /// CUPTI's clock was replaced: torch.profiler has it count by the processor's.
  [[nodiscard]] static bool is_by_cpu(const PmBatch& batch, const PmTime& first,
                                      const PmTime& last);
  [[nodiscard]] std::int64_t host_by_cpu(const PmBatch& batch, std::uint64_t ticks) const;
  void count_gap(const PmBatch& batch);
  [[nodiscard]] bool has_known_clock(const PmBatch& batch, std::uint64_t end);
  [[nodiscard]] bool has_no_clock(const PmBatch& batch, const ClockFit& clock);
  [[nodiscard]] bool sound(const PmBatch& batch, const PmTime& time) const;
  [[nodiscard]] std::optional<double> value_of(std::size_t track, double value) const;

  PmPlan plan_;
  PmClock clock_;
  PmCounts counts_;
  PmTime last_;
  Moment looked_;     // the look before this one; ticks 0: there was none since the start
  bool gap_ = false;  // samples are missing after the last
  // Where samples and the host were when their clocks last agreed to begin with; and how often they
  // have parted since.
  std::optional<std::pair<std::uint64_t, std::int64_t>> together_;
  std::int64_t parted_at_ = 0;
  int parted_ = 0;
};

}  // namespace fathom::cuda
