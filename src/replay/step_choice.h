// Which steps are replayed for a prediction, and which step an activity belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/context.h"

namespace fathom {

/// A single step that has no slice is the whole trace.
bool is_whole_trace(std::span<const Step> steps);

/// Rows of `steps`, ascending: the counted ones, which point into them, or evenly chosen pairs of
/// neighbours among them where they are many or hold too many events for a prediction to take no
/// time.
std::vector<std::uint32_t> choose_steps(const Context& context, std::span<const Step> steps,
                                        std::span<const Step* const> counted);

/// The counted steps that the context selects: by number and window.
std::vector<const Step*> counted_steps(const Context& context);

/// Finds steps by what was launched in them.
class StepFinder {
 public:
  StepFinder(const Context& context, std::span<const Step> steps);
  /// The step in whose host span the activity was launched; of a whole trace, its only step.
  /// kNoRow where there is none. O(log n).
  [[nodiscard]] std::uint32_t of_activity(SliceId activity) const;

 private:
  const Context& context_;
  std::span<const Step> steps_;
};

}  // namespace fathom
