// What to sample of a GPU while it works, as counter tracks: which metrics, how often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::cuda {

/// What a chip can do, asked of CUPTI's host interface or, in tests, of a table.
struct PmChip {
  std::string name;  ///< "GH100", as CUPTI has it.
  /// True if the chip has this metric.
  std::function<bool(const std::string& metric)> has;
  /// Passes that these take together; 0: they cannot be scheduled.
  std::function<std::size_t(const std::vector<std::string>& metrics)> passes;
};

/// A counter track.
struct PmTrack {
  std::string name;    ///< "gpu.sm_active".
  std::string unit;    ///< "percent", "bytes/s".
  std::string metric;  ///< Of CUPTI.
};

struct PmPlan {
  std::vector<PmTrack> tracks;
  std::int64_t interval_ns = 0;       ///< 0: cannot be sampled.
  bool by_cycles = false;             ///< The chip counts its cycles instead of time.
  std::size_t samples = 0;            ///< That must fit between two looks at them.
  std::vector<std::string> left_out;  ///< Tracks, with the reason.
};

/// What is wished: an interval, and how often the samples are taken out.
struct PmWish {
  std::int64_t interval_ns = 1'000'000;
  std::int64_t look_ns = 250'000'000;
};

/// Samples cannot be repeated, so that only metrics of one pass serve: the most telling first, as
/// many as fit. O(metrics) questions.
PmPlan plan_pm(const PmChip& chip, const PmWish& wish);

}  // namespace fathom::cuda
