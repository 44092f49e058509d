// What recording itself costs the host: estimates per event.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "replay/replay.h"
#include "rules/rule.h"

namespace fathom {

/// Events of one thread.
struct EventCounts {
  std::int64_t operators = 0;  ///< Operators, annotations and calls.
  std::int64_t frames = 0;     ///< Python frames.
  [[nodiscard]] Duration cost() const;
};

/// The counted events of the thread whose recording costs most.
EventCounts busiest_thread(const RuleContext& rules);

/// What recording costs per step in a trace without a device, where all time is the main thread's
/// and no Python frames were recorded; else negative: unknown. O(slices of the thread).
Duration recording_cost(const RuleContext& rules);

/// The part of it that a change takes away with the operators that it removes, per step. O(edits).
Duration removed_recording_cost(const RuleContext& rules, const Edits& edits);

}  // namespace fathom
