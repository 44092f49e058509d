// What most of a program's processor time is for, where that is none of its own functions' work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules/common/sampled.h"
#include "rules/finding.h"

namespace fathom {

enum class WorkKind : std::uint8_t {
  imports,    ///< Python's modules are found, read and set up.
  collector,  ///< Python's garbage collector looks for cycles.
  pickling,   ///< Objects become bytes for other processes, and objects again.
  kernel,     ///< System calls, pages that are touched first, threads that wake each other.
};

/// Work of one kind, with the advice for it.
struct Work {
  WorkKind kind = WorkKind::imports;
  std::string text;  ///< "Python's garbage collector paused the program 7 times, for 2.1 s".
  /// Of imports: lines of the program that began them, the longest first.
  std::vector<UserSpot> lines;
  Fix fix;
};
/// Unset where the program's own functions do most of it themselves. O(samples + frames).
std::optional<Work> work_of(const RuleContext& rules, const SampledProgram& program);

/// What to do where functions without Python compute. Who runs a tool of the system does not
/// compile it, and functions of scripts are named by other profilers.
Fix native_work_fix(const Trace& trace, const UserSpot& spot);

}  // namespace fathom
