// The steps of a recording and their windows.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/structure/links.h"
#include "store/trace.h"

namespace fathom {

/// How the steps were found, in the order in which they are tried.
enum class StepSource : std::uint8_t {
  profiler_step,  ///< ProfilerStep#N on the host.
  annotation,   ///< A top-level annotation that repeats and covers most of the time from its first
                ///< to its last occurrence.
  optimizer,    ///< From the end of one Optimizer.step to the end of the next.
  whole_trace,  ///< One step from the first to the last operator, call or device activity.
};

/// One step of one process. Windows of consecutive steps touch: [b(i-1), b(i)).
struct Step {
  std::int64_t number = 0;  ///< As recorded (ProfilerStep#N), else counted from 0.
  std::int64_t pid = kAbsent;
  StringId process{};  ///< The pid as written; invalid for whole_trace.
  SliceId slice{};     ///< The host annotation; invalid for whole_trace.
  Interval host{};     ///< The annotation's own span; for `optimizer`, since the one before.
  Interval window{};   ///< From the end of the step before to the end of what this one launched.
  /// Holds an activity launched before it or without a launch, or (first step found by its
  /// optimizer) began before anything shows where.
  bool edge = false;
  /// The last of its process, where nothing but its mark was recorded: the profiler stopped.
  bool empty = false;
};

struct Steps {
  StepSource source = StepSource::whole_trace;
  /// The steps are requests: each lies in the thread that answered it, and between two of them the
  /// program waits for the next. Those that began while another ran are left out.
  bool requests = false;
  std::string name;         ///< What repeats, e.g. "ProfilerStep*", "Optimizer.step#SGD.step".
  std::vector<Step> steps;  ///< By process, then time.
  std::string note;         ///< A sentence when the source is not ProfilerStep.
  std::vector<std::pair<StringId, std::int32_t>> devices;  ///< Who launched onto what; sorted.

  /// The steps that statistics and the verdict use: those neither `edge` nor `empty`; where there
  /// is none, those not `empty`.
  [[nodiscard]] std::vector<const Step*> counted() const;
  /// Does this step's process use the device? Also true where nobody is known to.
  [[nodiscard]] bool uses(const Step& step, std::int32_t device) const;
};

/// O(n + activities * log(steps)). A trace without anything in it gives one empty step.
Steps compute_steps(const Trace& trace, const Links& links);

}  // namespace fathom
