// How long a step would take with a batch that is several times as large, from one recording: an
// interval.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "rules/common/sample_loops.h"
#include "rules/rule.h"

namespace fathom {

/// Times of the counted steps together. What does not depend on the batch stays: the host's calls,
/// optimizer steps, a device's collectives of gradients. What does, or may (long stretches of
/// Python, collectives in which the host waits, idle time without a known cause), becomes at most
/// `factor` times as long; a kernel below one full wave of blocks, and a product of few rows, may
/// stay as they are until they fill the device. Loops with a round for each sample grow as a whole.
class BatchTimes {
 public:
  /// O(activities), or O(slices of the main thread).
  explicit BatchTimes(const RuleContext& rules);

  struct Range {
    Duration low{};   ///< What grows is hidden by the host's time wherever the device idled.
    Duration high{};  ///< Nothing is hidden, and all of it grows.
  };
  /// With a batch `factor` times as large. `loops_grow`: also those of which this is not known.
  /// O(activities).
  [[nodiscard]] Range with(std::int64_t factor, bool loops_grow = false) const;
  /// As recorded, without what is done only once.
  [[nodiscard]] Duration now() const { return now_; }
  /// Of that: kernels that grow from the next sample on; without a device what operators take
  /// beyond the least cost of a call.
  [[nodiscard]] Duration full() const { return full_; }
  /// Of that: kernels that do not fill the device once. Nothing without a device.
  [[nodiscard]] Duration unfilled() const { return unfilled_; }
  [[nodiscard]] Duration waiting_for_input() const { return input_; }
  /// Loops over samples, or those that may be some: the host's time, with a device as far as that
  /// waits for it.
  [[nodiscard]] Duration looped() const { return looped_; }
  [[nodiscard]] const SampleLoops& loops() const { return loops_; }
  /// Of the device; nothing is known without one.
  [[nodiscard]] Duration waiting_for_memory() const { return memory_; }

 private:
  struct Work {
    Duration time{};
    double stays_until = 0;  ///< The factor up to which it may stay as it is.
  };
  [[nodiscard]] bool is_long_python(const Interval& stretch) const;
  void look_at_device(const RuleContext& rules);
  void look_at_host(const RuleContext& rules);

  Duration now_{};
  Duration busy_{};
  Duration input_{};
  Duration memory_{};
  Duration unexplained_{};  // Long stretches of Python, idle time without a known cause: may grow.
  Duration full_{};
  Duration unfilled_{};
  Duration looped_{};
  SampleLoops loops_;
  bool device_ = false;
  std::vector<Work> work_;  // That grows with the batch.
};

/// The part of a full wave that the grid of a kernel makes, or 1 where it is not known or more.
double filled_part(const RuleContext& rules, SliceId kernel);

}  // namespace fathom
