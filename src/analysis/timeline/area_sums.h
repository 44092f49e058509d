// Sums by name or category over an area: some tracks for a stretch of time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/timeline/lane_tracks.h"

namespace fathom {

enum class SumBy : std::uint8_t { name, category };

/// Slices of one name and category, or of one category, cut to the stretch.
struct AreaSum {
  StringId name{};            ///< Invalid by category.
  std::uint8_t category = 0;  ///< Row of Trace::categories.
  std::uint64_t slices = 0;
  Duration total{};  ///< Σ of what lies inside.
  /// Without what lies inside of another of them, on the same track. Unset where that was too much
  /// to work out.
  std::optional<Duration> covered;
};

/// A stretch with more slices has no `covered`.
inline constexpr std::uint64_t kCoveredSlices = 200'000;

/// Of these tracks (places in lanes.tracks()), by total, largest first. Linear in the slices
/// inside.
std::vector<AreaSum> area_sums(const Trace& trace, const LaneTracks& lanes,
                               std::span<const std::size_t> tracks, Interval stretch, SumBy by);

}  // namespace fathom
