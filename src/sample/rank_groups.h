// RankGroups: what the ranks of a job do at one moment, those that do the same together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "sample/process_look.h"

namespace fathom::sample {

/// Ranks whose main threads are at one line in one state.
struct RankGroup {
  std::vector<std::int64_t> ranks;  ///< Ascending.
  std::vector<pid_t> pids;          ///< Of each rank.
  std::optional<FrameLook> place;   ///< The innermost function; unset where it is not certain.
  char state = '?';                 ///< As in Task.
  Wait wait;                        ///< Without objects: each rank has its own.
  /// Most ranks, and two at least, are at one other line; or at this one, and these are stopped,
  /// ended or stuck in the kernel.
  bool odd = false;
};

/// Of the processes with a rank those that are ranks: their children inherit the number. The
/// largest group first. Empty where there are fewer than two ranks. O(processes x depth).
std::vector<RankGroup> rank_groups(std::span<const ProcessLook> processes);

}  // namespace fathom::sample
