// Did two sides take turns while they were recorded?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fathom {

/// When a recording began, in ns since 1970; unset where it does not say.
using StartTime = std::optional<std::int64_t>;

struct Turns {
  /// Places in base and new of recordings that followed one another directly, in the order of time.
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::size_t alone = 0;  ///< Recordings of both sides without such a partner.
  std::string reason;     ///< Why the pairs are none that a claim may rest on; else "".
};

/// Pairs are what is nearest in time: each recording with the next one, where that is of the other
/// side. What the machine did in between then meets both. Usable are at least `fewest` pairs in
/// both orders: where one side always was first, drift counts as change. All of base and then all
/// of new is one pair. Nothing here looks at how long anything took. O(n log n).
Turns turns_of(std::span<const StartTime> base, std::span<const StartTime> now, std::size_t fewest);

}  // namespace fathom
