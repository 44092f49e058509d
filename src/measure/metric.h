// What is known of one run of a command, by name: its table.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "measure/bench_run.h"
#include "measure/measured.h"

namespace fathom::measure {

/// What is known of a run.
struct Metric {
  std::string_view id;     ///< "wall", as in JSON; on the command line with "-" for "_".
  std::string_view title;  ///< "wall time".
  Unit unit = Unit::ns;
  bool of_steps = false;    ///< Known only where steps are watched.
  bool of_devices = false;  ///< Known only with telemetry.
  bool more_is_better = false;
  std::string_view definition{};  ///< What it is, where the title does not say it all.
  std::optional<double> (*value)(const BenchRun&) = nullptr;
};
inline constexpr std::string_view kStepMetric = "step";
inline constexpr std::string_view kWallMetric = "wall";
inline constexpr std::string_view kThroughputMetric = "throughput";
inline constexpr std::string_view kMfuMetric = "mfu";

/// All, in the order in which they stand beside the headline.
std::span<const Metric> all_metrics();
/// By its id; null for a name that none has.
const Metric* metric_named(std::string_view id);

}  // namespace fathom::measure
