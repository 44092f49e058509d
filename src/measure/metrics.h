// What was measured of the runs, side by side: one row a metric.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/bench.h"
#include "measure/claim.h"
#include "measure/measured.h"
#include "measure/metric.h"
#include "measure/run_taker.h"

namespace fathom::measure {

/// Of one metric: claim_of(), where "faster" is more of what is better so.
Claim claim_about(const Metric& metric, std::span<const double> base, std::span<const double> now,
                  double resolution);
/// Why a run has no such value: "had no steps that Fathom sees".
std::string lacks_text(const Metric& metric, const RunTaker& taker);

/// The headline first, judged alone. The others, which stand beside it, are judged together. A
/// metric that a run lacks is left out.
std::vector<MeasuredMetric> metrics_of(const BenchOutcome& outcome, bool paired, double resolution);

}  // namespace fathom::measure
