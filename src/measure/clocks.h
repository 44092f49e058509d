// Did the GPUs of two sides run at the same clocks?
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "measure/bench.h"
#include "measure/claim.h"
#include "measure/clock_rule.h"

namespace fathom::measure {

/// "GPU 0: 1980 MHz, too hot 12 %" of the counted runs of a side, GPU after GPU: the median clock
/// and the reasons why it was no higher. "" where none was read.
std::string clocks_text(const BenchOutcome& outcome, Side side);

/// Runs that count, and what each cost: less is better.
struct CostlyRuns {
  std::vector<const BenchRun*> runs;
  std::vector<double> costs;
};
/// Of a side, the runs of the first `complete` pairs or rounds. The runs must outlive it.
CostlyRuns costly_runs(std::span<const BenchRun> runs, Side side, std::vector<double> costs);

/// Do cycles (costs by clock) of both sides say what the costs said? Empty ones say nothing.
using CyclesAgree =
    std::function<bool(const std::vector<double>& base, const std::vector<double>& now)>;

/// Why what was found of costs in time cannot stay, by the rule of clock_rule.h for each GPU that
/// runs of both sides used: "clocks differ: GPU 0: …". "" where it stays, where cycles agree, and
/// where no clocks were recorded.
std::string clocks_forbid(const CostlyRuns& base, const CostlyRuns& now, const CyclesAgree& agree,
                          const ClockNames& names = {});
/// The same of a claim about pairs; "" where nothing was claimed.
std::string clocks_forbid(const Claim& claim, const CostlyRuns& base, const CostlyRuns& now,
                          double resolution);

}  // namespace fathom::measure
