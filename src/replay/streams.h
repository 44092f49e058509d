// The activities of each stream, by start and by launch, and what they follow there.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/context.h"
#include "replay/graph.h"

namespace fathom {

/// Rows below are positions in Links::activities.
struct StreamWork {
  TrackId track{};
  std::int32_t device = -1;
  StringId process{};  ///< Who launched the first of them; invalid when nobody is known to.
  std::vector<std::uint32_t> activities;  ///< By start.
  /// Those with a launch, by the begin of their launch (`launched`), and for each the one with the
  /// latest end among it and those before it.
  std::vector<std::uint32_t> by_launch;
  std::vector<Time> launched;
  std::vector<std::uint32_t> latest;

  /// The last to end of what was launched before `at`, or kNoRow. O(log n).
  [[nodiscard]] std::uint32_t last_launched(Time at) const;
  /// The first to be launched at or after `at`, or kNoRow. O(log n).
  [[nodiscard]] std::uint32_t next_launched(Time at) const;
};

struct Streams {
  std::vector<StreamWork> streams;
  std::vector<std::uint32_t> stream_of;  ///< By activity: row of `streams`.
  /// By activity: the one on its stream that ended last before it starts, and one that started
  /// earlier and has not ended then; kNoRow where there is none.
  std::vector<std::uint32_t> after;
  std::vector<std::uint32_t> during;
  /// Activities with a launch, by the row of their launch.
  std::vector<std::uint32_t> by_call;

  /// What the call launched. O(log n).
  [[nodiscard]] std::span<const std::uint32_t> launched_by(const Context& context,
                                                           SliceId call) const;
};

/// O(n log n), linear where launches and starts have the same order.
Streams compute_streams(const Context& context);

}  // namespace fathom
