// One run of a command that is measured, and why there may be none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/diagnosis/session_steps.h"
#include "measure/child.h"
#include "measure/sampling.h"

namespace fathom::measure {

/// What is known of all runs before they run; unset where nobody said it.
struct Given {
  std::optional<double> ideal_step_ns;  ///< What a step's operations take at the device's peak.
  std::optional<double> price_per_kwh;
};

/// Names and values, in an order of their own.
using Facts = std::vector<std::pair<std::string, std::string>>;

struct BenchRun {
  Side side = Side::now;
  bool warmup = false;
  std::size_t pair = 0;       ///< From 0, among those of its kind.
  std::size_t order = 0;      ///< Among all runs.
  std::int64_t begin_ns = 0;  ///< Since measuring began, CLOCK_MONOTONIC.
  ChildRun child;
  std::optional<SessionSteps> steps;    ///< Unset where they were not watched, or there were none.
  std::vector<std::int64_t> epochs_ns;  ///< That the program marked.
  std::vector<SessionPhase> phases;     ///< Where steps were watched.
  Given given;
  std::optional<SessionDevices> devices;  ///< Unset without telemetry.
  Facts facts;                            ///< What the program said of itself; empty unwatched.
};

/// Why there are no results: a run or --prepare failed.
struct Failure {
  std::string what;
  std::string last_words;  ///< The end of its standard error, in lines.
};

/// Did it end for lack of memory? By what PyTorch, CUDA, Python, NumPy and the C++ library say of
/// it; `killed`: the kernel ended a process of our control group for memory meanwhile.
bool out_of_memory(const ChildRun& run, bool killed);

}  // namespace fathom::measure
