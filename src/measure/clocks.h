// Did the GPUs of both sides run at the same clocks?
#pragma once

#include <string>
#include <vector>

#include "measure/bench.h"

namespace fathom::measure {

/// What differs, or was lowered, in complete pairs; "" where nothing did, and where no clocks were
/// recorded. Compared are, of each GPU, the medians of the SM clock (more than 1 % apart), the
/// share of time of each reason for lower clocks (more than 5 points apart), and whether there was
/// any slowdown for heat or by the hardware (more than 1 % of the time).
std::string clocks_apart(const BenchOutcome& outcome);

/// Cycles of the first GPU of each complete pair: `values`, which are times of that side, by the SM
/// clock of its run. Empty where a run's clock is not known.
std::vector<double> cycles_of(const BenchOutcome& outcome, Side side,
                              const std::vector<double>& values);

}  // namespace fathom::measure
