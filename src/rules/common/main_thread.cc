// Finds pieces of the main thread by time.
#include "rules/common/main_thread.h"

#include <algorithm>

namespace fathom {

std::span<const HostPiece> main_thread_in(const RuleContext& rules, const Interval& stretch) {
  const std::vector<HostPiece>& pieces = rules.accounting.host;
  const auto first = std::ranges::upper_bound(pieces, stretch.begin, {},
                                              [](const HostPiece& at) { return at.interval.end; });
  const auto last =
      std::lower_bound(first, pieces.end(), stretch.end,
                       [](const HostPiece& at, Time end) { return at.interval.begin < end; });
  return {first, last};
}

}  // namespace fathom
