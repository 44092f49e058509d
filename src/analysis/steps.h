// The steps of a recording and their windows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/links.h"
#include "store/trace.h"

namespace fathom {

/// How the steps were found.
enum class StepSource : std::uint8_t { profiler_step, annotation, optimizer, whole_trace };

/// One step of one process. Windows of consecutive steps touch: [b(i-1), b(i)).
struct Step {
  std::int64_t number = 0;  ///< As recorded (ProfilerStep#N), else counted from 0.
  std::int64_t pid = kAbsent;
  SliceId slice{};  ///< The host annotation; invalid for whole_trace.
  Interval host{};  ///< The annotation's own span.
  Interval window{};
  bool edge = false;  ///< Holds an activity launched before it, or without a launch.
};

struct Steps {
  StepSource source = StepSource::whole_trace;
  std::string name;         ///< What repeats, e.g. "ProfilerStep*", "Optimizer.step#SGD.step".
  std::vector<Step> steps;  ///< By process, then time.
  std::string note;         ///< A sentence when the source is not ProfilerStep.

  /// The steps that statistics and the verdict use: those not `edge`, or all when there is no
  /// other.
  [[nodiscard]] std::vector<const Step*> counted() const;
};

Steps compute_steps(const Trace& trace, const Links& links);

}  // namespace fathom
