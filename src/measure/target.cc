// Judges an interval by a saving.
#include "measure/target.h"

#include <array>

namespace fathom::measure {

std::string_view to_string(TargetState state) {
  static constexpr std::array<std::string_view, 3> kNames = {"reached", "missed", "cannot_tell"};
  return kNames[static_cast<std::size_t>(state)];
}

TargetProgress target_progress(const MeasuredMetric& headline, double wanted) {
  TargetProgress progress{.wanted = wanted, .saved = {}, .bounds = {}};
  const std::optional<PairedRatio>& ratio = headline.claim.ratio;
  if (!ratio) return progress;
  const bool more = headline.more_is_better;
  const auto cost = [more](double value) { return more ? 1 / value : value; };
  progress.saved = 1 - cost(ratio->ratio);
  progress.bounds = Bounds{.low = 1 - cost(more ? ratio->interval.low : ratio->interval.high),
                           .high = 1 - cost(more ? ratio->interval.high : ratio->interval.low)};
  if (headline.clocks_differ) return progress;
  if (progress.bounds->low >= wanted) progress.state = TargetState::reached;
  if (progress.bounds->high < wanted) progress.state = TargetState::missed;
  return progress;
}

}  // namespace fathom::measure
