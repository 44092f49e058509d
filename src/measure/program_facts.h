// What the programs of a side said of themselves, and in what two sides differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/bench_run.h"
#include "measure/varied_bench.h"

namespace fathom::measure {

/// A fact's name, and all values that the runs of a side had for it, in ascending order.
using FactOfRuns = std::pair<std::string, std::vector<std::string>>;

/// Of the runs of a side that were watched, those before the counted ones too, in the order of the
/// first that knows it.
std::vector<FactOfRuns> facts_of(std::span<const BenchRun> runs, Side side);
/// The same over all values of a sweep: what goes with the value has the values that it had.
std::vector<FactOfRuns> facts_of(std::span<const VariedPoint> points, Side side);

/// With all values: "seed" "1, 2, 3, 4".
Facts whole_facts(const std::vector<FactOfRuns>& facts);
/// "PyTorch 2.6.0 → 2.7.1; threads 8 → –". Empty where nothing differs, and where one side said
/// nothing at all.
std::string facts_that_differ(const std::vector<FactOfRuns>& base,
                              const std::vector<FactOfRuns>& now);
/// "Python 3.11.7, threads 8, seed 1 to 20 (20 values)".
std::string facts_text(const std::vector<FactOfRuns>& facts);
/// Of both sides, once where they said the same: "base: threads 8; new: threads 4".
std::string programs_text(const std::optional<std::vector<FactOfRuns>>& base,
                          const std::vector<FactOfRuns>& now);

}  // namespace fathom::measure
