// What was measured of the runs, side by side: one row a metric.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "measure/bench.h"
#include "measure/claim.h"
#include "stats/sample.h"
#include "stats/warm_up.h"

namespace fathom::measure {

enum class Unit : std::uint8_t { ns, bytes };

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

/// Wall time first: it is the headline, judged alone. The others, which stand beside it, are judged
/// together. A metric that a run lacks is left out.
std::vector<MeasuredMetric> metrics_of(const BenchOutcome& outcome, bool paired, double resolution);

}  // namespace fathom::measure
