// What somebody wants to reach: so much less step time, or a step time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stats/sample.h"

namespace fathom {

struct Target {
  std::string text;             ///< As it was written: "20%", "30ms".
  std::optional<double> ratio;  ///< Of the step time, by that of the first recording.
  std::optional<double> ns;
  bool within_runs = false;  ///< Intervals that are true of the runs at hand only decide, too.
};

/// "20%": so much less; "30ms": a step time. Errors: invalid_argument.
Result<Target> parse_target(std::string_view text);

enum class Reached : std::uint8_t { yes, no, cannot_tell };
/// Stable, for JSON: "reached", "not_reached", "cannot_tell".
std::string_view to_string(Reached reached);

struct TargetProgress {
  double target_ns = 0;
  /// Part of the way from the first step time to the target: 1 where it is reached. Unset where the
  /// first is not above the target.
  std::optional<double> way;
  Reached reached = Reached::cannot_tell;
  std::string reason;  ///< Why an interval that is there does not decide; else empty.
};

/// Medians; `interval` is of their ratio, and without one the medians decide nothing.
TargetProgress progress_to(const Target& target, double base_ns, double now_ns,
                           const std::optional<Bounds>& interval);

}  // namespace fathom
