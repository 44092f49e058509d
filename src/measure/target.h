// A wanted saving, and how much of it was reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "measure/metrics.h"

namespace fathom::measure {

enum class TargetState : std::uint8_t { reached, missed, cannot_tell };
std::string_view to_string(TargetState state);

struct TargetProgress {
  double wanted = 0;  ///< Saving: 0.2 is 20 % of the base's cost.
  TargetState state = TargetState::cannot_tell;
  std::optional<double> saved;   ///< Of the base's cost; below 0 where it costs more.
  std::optional<Bounds> bounds;  ///< Of that, at 95 %.
};

/// `reached` where all of the interval saves at least as much, `missed` where none does. The cost
/// of what is better when more is its reciprocal: 25 % more samples per second save 20 % of the
/// time. Clocks that differ leave it untold.
TargetProgress target_progress(const MeasuredMetric& headline, double wanted);

}  // namespace fathom::measure
