// Flame: the calls of an area as a tree, those of one path together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/context.h"
#include "analysis/timeline/lane_tracks.h"

namespace fathom {

/// Calls with the same names from the top down.
struct FlamePath {
  StringId name{};           ///< Invalid for the root.
  std::uint32_t parent = 0;  ///< Its place; the root is its own.
  std::uint32_t depth = 0;   ///< 0 for the root.
  std::uint64_t slices = 0;
  Duration total{};  ///< Cut to the stretch.
  Duration self{};   ///< Without what lies in its children.
  Time first{};      ///< When it first begins.
  /// By the allocator inside it, whoever frees it; of the root, all of what lies in a call.
  std::int64_t bytes = 0;
  std::int64_t self_bytes = 0;
};

/// What lies deeper counts as its parent's own.
inline constexpr std::uint32_t kFlameDepth = 200;

/// Parents before their children; the root first, whose total is the sum of what is outermost. Of
/// host tracks by nesting, of streams by name. With `alive_at`, bytes are those that were not freed
/// by then; of devices, where they have memory. O(n log n) for the n slices inside.
std::vector<FlamePath> flame_of(const Context& context, const LaneTracks& lanes,
                                std::span<const std::size_t> tracks, Interval stretch,
                                std::optional<Time> alive_at = {});

}  // namespace fathom
