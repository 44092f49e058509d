// What activities wait for once they are launched: the usual delay, event waits, peers.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/context.h"

namespace fathom {

/// Median delay from the start of the launching call to the start of the activity, over activities
/// that found their stream idle when they were launched; of a call with several, the first. 0
/// without any, and where it is longer than any launch takes: then the device was busy with what
/// was launched before the recording. O(activities).
Duration median_launch_delay(const Context& context);

/// Event waits on the device's side, as the tracer recorded them (cuda_sync, "Stream Wait Event").
class EventWaits {
 public:
  /// O(n log n); O(names) when there are none.
  explicit EventWaits(const Context& context);

  /// When the work is done that an activity waits for by events, which the host asked for between
  /// the launches of the activity before it on its stream and of itself. Time::max() where the
  /// trace does not show what was waited for; unset where no wait was recorded. O(log n).
  [[nodiscard]] std::optional<Time> ready(TrackId stream, Interval between_launches) const;

 private:
  struct Wait {
    Time at;     // when the host asked for it
    Time ready;  // the end of the work that it waits for
  };
  std::unordered_map<std::uint32_t, std::vector<Wait>> streams_;  // by track; by time
};

/// When the other devices that were busy in `window` were so last; window.begin when none was.
/// O(devices * log n).
Time last_busy_peer(const Timelines& timelines, std::int32_t device, Interval window);

/// Does this activity need another device? Collectives and copies between devices do. O(1).
bool needs_peer(const Context& context, SliceId activity);

}  // namespace fathom
