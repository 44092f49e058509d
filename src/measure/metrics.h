// What was measured of the runs, side by side: one row a metric.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/bench.h"
#include "measure/claim.h"
#include "measure/run_taker.h"
#include "stats/sample.h"
#include "stats/warm_up.h"

namespace fathom::measure {

enum class Unit : std::uint8_t { ns, bytes, joules, per_second };
/// "ns", "bytes", "joules", "1/s".
std::string_view to_string(Unit unit);

/// What is known of a run.
struct Metric {
  std::string_view id;     ///< "wall", as in JSON; on the command line with "-" for "_".
  std::string_view title;  ///< "wall time".
  Unit unit = Unit::ns;
  bool of_steps = false;    ///< Known only where steps are watched.
  bool of_devices = false;  ///< Known only with telemetry.
  bool more_is_better = false;
  std::optional<double> (*value)(const BenchRun&) = nullptr;
};
inline constexpr std::string_view kStepMetric = "step";
inline constexpr std::string_view kWallMetric = "wall";
inline constexpr std::string_view kThroughputMetric = "throughput";

/// All, in the order in which they stand beside the headline.
std::span<const Metric> all_metrics();
/// Of one metric: claim_of(), where "faster" is more of what is better so.
Claim claim_about(const Metric& metric, std::span<const double> base, std::span<const double> now,
                  double resolution);
/// Why a run has no such value: "had no steps that Fathom sees".
std::string lacks_text(const Metric& metric, const RunTaker& taker);
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
  bool more_is_better = false;
  std::optional<MeasuredSide> base;  ///< Unset where the command was measured alone.
  MeasuredSide now;
  Claim claim;  ///< Of new against base.
  /// GPUs ran at other clocks, and cycles do not say the same: the claim that would
  /// have been is withheld (clocks.h).
  bool clocks_differ = false;
};

/// The headline first, judged alone. The others, which stand beside it, are judged together. A
/// metric that a run lacks is left out.
std::vector<MeasuredMetric> metrics_of(const BenchOutcome& outcome, bool paired, double resolution);

}  // namespace fathom::measure
