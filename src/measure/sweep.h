// A sweep: which of several values is the smallest that is as good as the best?
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/bench.h"
#include "measure/claim.h"
#include "measure/knee.h"
#include "measure/varied.h"
#include "measure/varied_bench.h"
#include "stats/sample.h"

namespace fathom::measure {

struct SweepOptions {
  Varied varied;
  BenchOptions bench;  ///< With a base, each value is measured of both.
};

/// Values of one thing, and what was measured at each.
struct VariedOutcome {
  std::string name;
  std::vector<VariedPoint> points;  ///< In the order of the values.
  std::string_view headline;        ///< Empty where nothing was measured.
  Stopped stopped = Stopped::runs;
  std::optional<Announcement> announced;  ///< Rounds; of a sweep.
  Conditions conditions;
  Duration elapsed{};
  int interrupted = 0;  ///< The signal that ended it; 0 for none.
  std::optional<Failure> failure;
};

struct VariedReceivers {
  std::function<void(const VariedProgress&)> progress;  ///< May be empty.
  std::function<void(const Announcement&)>
      announcement;                                 ///< Once at most, of rounds; may be empty.
  std::function<void(const std::string&)> warning;  ///< May be empty.
};

/// Rounds over all values in random order, until the plan is fulfilled: `runs` are rounds, and
/// precise is when each value could be distinguished from the first (with a base: both sides at
/// each), blind to which is better. Errors: as run_bench(); a value that cannot be placed.
Result<VariedOutcome> run_sweep(const SweepOptions& options, const VariedReceivers& receivers);

/// One value, judged.
struct SweepRow {
  std::size_t point = 0;
  std::optional<SampleSummary> base;
  std::optional<SampleSummary> now;  ///< Unset where no round was complete.
  std::optional<Claim> claim;        ///< New against base.
  std::optional<Standing> standing;  ///< Among the values of one command.
  std::optional<PairedRatio> cost;   ///< By that of the best: 1.02 is 2 % worse.
  /// Why GPUs' clocks forbid what times say of this value, against the base or the best: "clocks
  /// differ: …". Then the verdict or the standing is cannot_tell. Else empty.
  std::string clocks;
};

struct SweepVerdict {
  std::vector<SweepRow> rows;        ///< By point.
  std::optional<std::size_t> best;   ///< Of the median.
  std::optional<std::size_t> knee;   ///< The smallest value that is best or within.
  std::vector<std::size_t> perhaps;  ///< Smaller ones for which that is unknown.
};

/// Costs of one command are compared over the rounds (find_knee()); values are smaller as numbers
/// where all are, else in their order. With a base, the claims of all values are judged together,
/// and there is no knee. Where clocks differ (clocks.h), nothing is claimed of a value.
SweepVerdict judge_sweep(const VariedOutcome& outcome, bool paired, double resolution);

}  // namespace fathom::measure
