// What each sampled thread spent on a processor, in the run queue and blocked.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/samples/stack_roles.h"
#include "store/trace.h"

namespace fathom {

struct ThreadSum {
  std::int64_t pid = kAbsent;
  std::int64_t tid = kAbsent;
  StringId name{};
  bool python = false;  ///< Stacks of Python were read.
  Time begin{};         ///< Since when it was looked at.
  Time end{};
  Duration on_cpu{};
  Duration queued{};
  Duration blocked{};
  std::array<Duration, kWaitClasses> waits{};  ///< Sum to `blocked`.
  std::uint64_t samples = 0;

  [[nodiscard]] Duration wall() const { return on_cpu + queued + blocked; }
  [[nodiscard]] Duration waited(WaitClass wait) const {
    return waits[static_cast<std::size_t>(wait)];
  }
  [[nodiscard]] bool is_main() const { return pid == tid; }
};

/// By process and thread. O(samples).
std::vector<ThreadSum> thread_sums(const Trace& trace, const StackRoles& roles);

}  // namespace fathom
