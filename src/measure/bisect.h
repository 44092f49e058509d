// The largest value with which a command still runs, in fresh processes under a memory limit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/bench.h"
#include "measure/varied.h"

namespace fathom::measure {

struct BisectOptions {
  VariedRange range;
  BenchOptions bench;  ///< `child.memory_limit` is set: never the machine's memory decides.
};

/// One value that was tried.
struct Probe {
  std::int64_t value = 0;
  bool fits = false;
  std::string why;  ///< Why not.
  BenchRun run;
};

struct BisectOutcome {
  std::vector<Probe> probes;         ///< In their order.
  std::int64_t largest = 0;          ///< That ran, twice; 0 for none.
  std::int64_t smallest_failed = 0;  ///< 0 for none: then `largest` is the end of the range.
  bool complete = false;             ///< No value between these two is untried.
  Duration elapsed{};
  int interrupted = 0;  ///< The signal that ended it; 0 for none.
  std::optional<Failure> failure;
};

/// The first value is doubled until a run fails for lack of memory or time, then bisected to the
/// last whole number. A run fits when it ends with exit code 0, and, where others have steps that
/// Fathom sees, has at least three: what makes ready only once is then past. The result runs once
/// more; where that fails, the search goes on below it. A run that fails for another reason ends
/// the search. Errors: as run_bench().
Result<BisectOutcome> run_bisect(const BisectOptions& options,
                                 const std::function<void(const Probe&)>& progress);

/// Half of the memory that this machine and our control group can still give.
std::int64_t default_memory_limit(const std::string& root = "");

}  // namespace fathom::measure
