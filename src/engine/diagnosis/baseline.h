// The baseline beside the step's time: its spread, what a step works on, memory, costliest
// operators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rules/common/batch.h"
#include "rules/rule.h"

namespace fathom {

struct CostlyOperator {
  std::string name;
  Duration self{};     ///< On the device, without one on the host; over the selected time.
  double percent = 0;  ///< Of such time of all operators.
};

struct Baseline {
  Duration first_quartile{};  ///< Of the counted steps.
  Duration third_quartile{};
  /// How much longer the last third of the steps is than the first, by means; unset for fewer than
  /// six.
  std::optional<double> drift_percent;
  std::optional<Batch> batch;
  /// Model FLOPs utilisation: of the peak, over the usual steps; of operators with a formula.
  std::optional<double> mfu_percent;
  /// Of the usual steps, as in the accounting: busy_percent().
  std::optional<double> busy_percent;
  std::string utilisation;  ///< utilisation_sentence(), or "" where no verdict could be given.
  std::optional<std::int64_t> peak_allocated;  ///< Bytes on the diagnosed device.
  std::optional<std::int64_t> peak_reserved;
  std::optional<std::int64_t> memory_bytes;  ///< That the device has.
  bool operators_on_device = false;
  std::vector<CostlyOperator> operators;  ///< At most five, the costliest first.
};

/// `rules` holds the counted steps. O(n log n).
Baseline compute_baseline(const RuleContext& rules);

/// The share of the steps in which something runs on the diagnosed device: the sums of the
/// accounting. Unset without a device.
std::optional<double> busy_percent(const RuleContext& rules);
/// What it means that the device is busy for so little, where that is less than 70 % of the step;
/// else "".
std::string utilisation_sentence(std::optional<double> busy_percent);

}  // namespace fathom
