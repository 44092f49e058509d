// Did the GPUs of both commands run at the same clocks?
#pragma once

#include <string>
#include <vector>

#include "measure/bench.h"
#include "measure/claim.h"

namespace fathom::measure {

/// "GPU 0: 1980 MHz, too hot 12 %" of the counted runs of a side, GPU after GPU: the median clock
/// and the reasons why it was no higher. "" where none was read.
std::string clocks_text(const BenchOutcome& outcome, Side side);

/// Why a claim about times cannot stay, by the rule of clock_rule.h for each GPU that runs of both
/// sides used: "clocks differ: GPU 0: …". "" where it stays, and where no clocks were recorded.
/// `base` and `now` are the times of complete pairs.
std::string clocks_forbid(const BenchOutcome& outcome, const Claim& claim,
                          const std::vector<double>& base, const std::vector<double>& now,
                          double resolution);

}  // namespace fathom::measure
