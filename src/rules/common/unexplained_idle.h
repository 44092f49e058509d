// Idle time of the diagnosed device that the recording does not explain, and why it does not.
#pragma once

#include <array>
#include <cstddef>

#include "rules/rule.h"

namespace fathom {

/// What the recording lacks about an idle stretch.
enum class Unexplained : std::uint8_t {
  before,  ///< Before the first recorded activity, which was launched and waits.
  after,   ///< After the last one.
  graph,   ///< The launch of a graph waits for work that was not recorded.
  waits,   ///< Any other launched work waits, and nothing shows for what.
  launch,  ///< What launched the next activity is not in the recording.
};
inline constexpr std::size_t kUnexplained = static_cast<std::size_t>(Unexplained::launch) + 1;

struct UnexplainedIdle {
  std::array<Duration, kUnexplained> time{};  ///< Counted, by reason.
  std::array<Interval, kUnexplained> longest{};
  std::array<SliceId, kUnexplained> next{};  ///< The activity that ends the longest, or invalid.
  [[nodiscard]] Duration total() const;
  /// The reason for most of it.
  [[nodiscard]] Unexplained most() const;
};

/// The parts that no cause was found for: the verdict's own sum. O(idle pieces).
UnexplainedIdle unexplained_idle(const RuleContext& rules);

}  // namespace fathom
