// The step that the host works for, where it may run ahead of the device.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>

#include "rules/rule.h"

namespace fathom {

/// The counted step in whose span on the host the moment lies, or nullptr.
/// O(processes * log steps).
inline const Step* step_on_host(const RuleContext& rules, Time time) {
  std::span<const Step* const> steps(rules.steps);
  while (!steps.empty()) {
    const StringId process = steps.front()->process;
    const auto same = [process](const Step* step) { return step->process == process; };
    const bool only = steps.back()->process == process;
    const auto end = only ? steps.end() : std::ranges::partition_point(steps, same);
    const auto run = steps.first(static_cast<std::size_t>(end - steps.begin()));
    const auto after =
        std::ranges::upper_bound(run, time, {}, [](const Step* step) { return step->host.begin; });
    if (after != run.begin() && time < (*std::prev(after))->host.end) return *std::prev(after);
    steps = steps.subspan(run.size());
  }
  return nullptr;
}

/// Does the host work for a counted step at that moment?
inline bool counts_on_host(const RuleContext& rules, Time time) {
  return step_on_host(rules, time) != nullptr;
}

}  // namespace fathom
