// Finds slices by a part of their name, and where along the axis of time they lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

inline constexpr std::size_t kDensityBins = 512;

struct NameSearch {
  std::uint64_t slices = 0;
  struct Name {
    StringId name{};
    std::uint64_t slices = 0;
    Duration total{};
  };
  std::vector<Name> names;     ///< By total, largest first.
  std::vector<SliceId> first;  ///< Those that start first, by start; as many as were asked for.
  /// How many of them start in each part of the range.
  std::array<std::uint64_t, kDensityBins> density{};
};

/// Slices whose name has `part` in it, whatever the case of ASCII letters; all for "". O(length of
/// all names + slices + found * log first).
NameSearch search_names(const Trace& trace, std::string_view part, Interval range,
                        std::size_t first);

}  // namespace fathom
