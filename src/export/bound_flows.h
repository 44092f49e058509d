// Which slice each end of an arrow lies in.
#pragma once

#include <cstdint>
#include <vector>

#include "export/chosen.h"
#include "export/lanes.h"
#include "store/trace.h"

namespace fathom {

/// One end of an arrow, bound to a slice.
struct BoundFlow {
  std::uint32_t slice = 0;  ///< Row.
  std::uint64_t arrow = 0;  ///< The same number at all its ends.
  bool ends = false;        ///< The arrow's last end.
};

struct BoundFlows {
  std::vector<BoundFlow> flows;  ///< By slice.
  std::uint64_t unbound = 0;     ///< Ends in no slice.

  [[nodiscard]] std::span<const BoundFlow> of(std::uint32_t slice) const;
};

/// Binds each chosen end to the innermost slice of its track at its time; launches that the
/// recording has only by correlation ids are added. O(n log n).
BoundFlows bind_flows(const Trace& trace, const Chosen& chosen, const TrackOrder& order);

}  // namespace fathom
