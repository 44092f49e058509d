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
  /// The first call, and its answer, that failed since this was asked last, otherwise than a metric
  /// that there is not; "" for none. May be empty: none ever fails.
  std::function<std::string()> failed = {};
};

/// A counter track.
struct PmTrack {
  std::string name;    ///< "gpu.sm_active".
  std::string unit;    ///< "percent", "bytes/s".
  std::string metric;  ///< Of CUPTI.
};

/// A track that the chip cannot have, with the reason.
struct PmLeftOut {
  std::string track;
  std::string why;
  bool failed = false;  ///< A call failed: the chip may have it.
};

struct PmPlan {
  std::vector<PmTrack> tracks;
  std::int64_t interval_ns = 0;      ///< 0: cannot be sampled.
  std::int64_t interval_cycles = 0;  ///< Above 0 where the chip counts cycles instead of time.
  std::size_t samples = 0;           ///< That must fit between two looks at them.
  std::vector<PmLeftOut> left_out;
};

/// How to sample: an interval, and how often the samples are taken out.
struct PmRates {
  std::int64_t interval_ns = 1'000'000;
  std::int64_t look_ns = 100'000'000;
};

/// Samples cannot be repeated, so that only metrics of one pass serve: the most telling first, as
/// many as fit. O(metrics) questions.
PmPlan plan_pm(const PmChip& chip, const PmRates& rates);

/// "gpu.sm_active, gpu.tensor_active, …": what is lost where nothing can be sampled.
std::string pm_tracks();

}  // namespace fathom::cuda
