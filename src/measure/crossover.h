// At which size does the second command become the faster one?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/sweep.h"

namespace fathom::measure {

struct CrossoverOptions {
  VariedRange range;   ///< Whole numbers; without an end, 2^20 times the first.
  BenchOptions bench;  ///< Both commands; `plan.runs` are the pairs at each size.
};

enum class Crossing : std::uint8_t {
  found,
  always,   ///< Already at the first size.
  never,    ///< Not up to the last size that was measured.
  unknown,  ///< Measuring ended before, or memory or time did not suffice for a larger size.
};
std::string_view to_string(Crossing crossing);

struct CrossoverOutcome {
  VariedOutcome varied;  ///< Points by size.
  Crossing crossing = Crossing::unknown;
  std::int64_t slower_up_to = 0;  ///< The largest size at which it was still slower, by the median…
  std::int64_t faster_from = 0;    ///< … and the smallest at which it was not; 0 for none.
  std::int64_t surely_slower = 0;  ///< As far as the intervals leave no doubt; 0 for none.
  std::int64_t surely_faster = 0;
  std::int64_t not_measured =
      0;  ///< The size that ended the doubling without an answer; 0 for none.
};

/// Sizes are chosen by SizeSearch. At each, pairs in random order after a warm-up. A size at which
/// memory or time do not suffice ends the doubling. Where clocks of GPUs differ (clocks.h), nothing
/// is certain at a size. Errors: as run_sweep().
Result<CrossoverOutcome> run_crossover(const CrossoverOptions& options,
                                       const VariedReceivers& receivers);

}  // namespace fathom::measure
