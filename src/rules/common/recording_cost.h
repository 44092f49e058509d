// What recording itself costs the host: estimates per event.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/machine/recording_overhead.h"
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

/// What the profiler marks as its own: flushing buffers, loading functions.
struct MarkedOverhead {
  std::vector<SliceId> slices;
  Duration time{};  ///< In the counted steps.
};
MarkedOverhead marked_overhead(const RuleContext& rules);

/// Can recording have made the steps as much longer as the run measured? Without a device its cost
/// is that of its events, and what it marks.
bool may_be_due_to_recording(const RuleContext& rules, const RecordingOverhead& measured);

/// What recording costs per step in a trace without a device, where all time is the main thread's
/// and no Python frames were recorded; else negative: unknown. O(slices of the thread).
Duration recording_cost(const RuleContext& rules);

/// The part of it that a change takes away with the operators that it removes, per step. O(edits).
Duration removed_recording_cost(const RuleContext& rules, const Edits& edits);

}  // namespace fathom
