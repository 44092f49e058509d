// Tile: what a screen needs of a lane at one level of zoom; merged where slices are shorter than a
// bin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/timeline/lane.h"

namespace fathom {

/// Bins of a tile; a bin of level k is 2^k ns long.
inline constexpr std::int64_t kTileBins = 512;
inline constexpr int kTileLevels = 50;
/// From level 8 on a place in a tile is counted in 256ths of a bin, below in nanoseconds.
inline constexpr int kPlaceBits = 8;

/// The stretch of time that tile `index` of a level covers.
struct TileSpan {
  int level = 0;
  std::int64_t index = 0;
  [[nodiscard]] std::int64_t bin_ns() const { return std::int64_t{1} << level; }
  [[nodiscard]] Interval interval() const {
    const std::int64_t begin = index * kTileBins * bin_ns();
    return {time_ns(begin), time_ns(begin + kTileBins * bin_ns())};
  }
};

/// A box to draw. Boxes of a lane do not overlap.
struct TileBox {
  std::uint32_t x0 = 0;         ///< From the tile's begin, rounded down,
  std::uint32_t x1 = 0;         ///< and up.
  SliceId slice{};              ///< Invalid where several slices are merged.
  StringId name{};              ///< Of the slice, or of the longest of the merged.
  SliceId longest{};            ///< The slice, or the longest of the merged.
  std::uint8_t coverage = 255;  ///< Covered time of the box's, in 255ths; at least 1.
};

/// The slices of a lane in the tile. One of at least two bins has a box of its own, with coverage
/// 255; of shorter ones each bin has a box, whose coverage is their time in it. O(boxes * log n +
/// slices, where a bin holds few of them).
std::vector<TileBox> tile_boxes(const Trace& trace, const Lane& lane, const TileSpan& span);

}  // namespace fathom
