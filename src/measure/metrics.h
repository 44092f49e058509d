// What was measured of the runs, side by side: one row a metric.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/bench.h"
#include "measure/claim.h"
#include "stats/sample.h"
#include "stats/warm_up.h"

namespace fathom::measure {

enum class Unit : std::uint8_t { ns, bytes };

/// What is known of a run.
struct Metric {
  std::string_view id;     ///< "wall", as in JSON; on the command line with "-" for "_".
  std::string_view title;  ///< "wall time".
  Unit unit = Unit::ns;
  bool of_steps = false;  ///< Known only where steps are watched.
  std::optional<double> (*value)(const BenchRun&) = nullptr;
};
inline constexpr std::string_view kStepMetric = "step";
inline constexpr std::string_view kWallMetric = "wall";

/// All, in the order in which they stand beside the headline.
std::span<const Metric> all_metrics();
/// By its id; null for a name that none has.
const Metric* metric_named(std::string_view id);

/// One side of one metric.
struct MeasuredSide {
  SampleSummary summary;
  std::optional<WarmUp> warm_up;  ///< Over the runs of this side in their order.
  double autocorrelation = 0;     ///< Of one run with the next of its side.
};

struct MeasuredMetric {
  std::string_view id;     ///< "wall", as in JSON.
  std::string_view title;  ///< "wall time".
  Unit unit = Unit::ns;
  std::optional<MeasuredSide> base;  ///< Unset where the command was measured alone.
  MeasuredSide now;
  Claim claim;  ///< Of new against base.
};

/// The headline first, judged alone. The others, which stand beside it, are judged together. A
/// metric that a run lacks is left out.
std::vector<MeasuredMetric> metrics_of(const BenchOutcome& outcome, bool paired, double resolution);

}  // namespace fathom::measure
