// What the programs of a side said of themselves, and in what two sides differ.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "measure/bench_run.h"
#include "measure/varied_bench.h"

namespace fathom::measure {

/// Of the runs of a side that were watched, those before the counted ones too, in the order of the
/// first that knows it. What is not the same in all of them has all values: "1, 2", at most three.
Facts facts_of(std::span<const BenchRun> runs, Side side);
/// The same over all values: what goes with the value has the values that it had.
Facts facts_of(std::span<const VariedPoint> points, Side side);

/// "PyTorch 2.6.0 → 2.7.1; threads 8 → –". Empty where nothing differs, and where one side said
/// nothing at all.
std::string facts_that_differ(const Facts& base, const Facts& now);
/// "Python 3.11.7, threads 8".
std::string facts_text(const Facts& facts);
/// Of both sides, once where they said the same: "base: threads 8; new: threads 4".
std::string programs_text(const std::optional<Facts>& base, const Facts& now);

}  // namespace fathom::measure
