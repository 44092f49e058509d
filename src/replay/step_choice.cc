// Chooses the steps that a prediction replays.
#include "replay/step_choice.h"

#include <algorithm>

#include "replay/graph.h"

namespace fathom {
namespace {

/// So many steps are replayed all; of more, so many chosen ones.
constexpr std::size_t kMostSteps = 24;
/// Events of the replayed steps together, as far as kFewestSteps allow.
constexpr std::size_t kMostEvents = 1'000'000;
constexpr std::size_t kFewestSteps = 4;

std::size_t wanted_steps(const Context& context, std::size_t all, std::size_t counted) {
  const std::size_t events_per_step =
      context.trace.slices.size() / std::max<std::size_t>(all, 1) + 1;
  return std::min(counted, std::clamp(kMostEvents / events_per_step, kFewestSteps, kMostSteps));
}

}  // namespace

bool is_whole_trace(std::span<const Step> steps) {
  return steps.size() == 1 && !steps.front().slice.valid();
}

std::vector<std::uint32_t> choose_steps(const Context& context, std::span<const Step> steps,
                                        std::span<const Step* const> counted) {
  std::vector<std::uint32_t> rows;
  for (const Step* step : counted) rows.push_back(static_cast<std::uint32_t>(step - steps.data()));
  std::ranges::sort(rows);
  const std::size_t wanted = wanted_steps(context, steps.size(), rows.size());
  if (wanted == rows.size()) return rows;
  std::vector<std::uint32_t> chosen;
  const std::size_t pairs = wanted / 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t first = (2 * i + 1) * rows.size() / (2 * pairs);
    for (std::size_t at = first; at < std::min(first + 2, rows.size()); ++at)
      chosen.push_back(rows[at]);
  }
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::vector<const Step*> counted_steps(const Context& context) {
  std::vector<const Step*> steps = context.steps().counted();
  const Selection& selection = context.selection;
  const Interval window = context.window();
  const auto selected = [&](const Step* step) {
    if (selection.steps &&
        (step->number < selection.steps->first || step->number > selection.steps->last))
      return false;
    return !selection.window ||
           (window.begin < step->window.end && step->window.begin < window.end);
  };
  std::erase_if(steps, [&](const Step* step) { return !selected(step); });
  return steps;
}

StepFinder::StepFinder(const Context& context, std::span<const Step> steps)
    : context_(context), steps_(steps) {}

std::uint32_t StepFinder::of_activity(SliceId activity) const {
  if (is_whole_trace(steps_)) return 0;
  const SliceId launch = context_.links().launch[activity.row()];
  if (!launch.valid()) return kNoRow;
  const std::pair wanted(context_.trace.track(launch).process,
                         context_.trace.slices.start[launch.row()]);
  const auto after = std::ranges::upper_bound(steps_, wanted, {}, [](const Step& step) {
    return std::pair(step.process, step.host.begin);
  });
  if (after == steps_.begin()) return kNoRow;
  const Step& step = *std::prev(after);
  if (step.process != wanted.first || wanted.second >= step.host.end) return kNoRow;
  return static_cast<std::uint32_t>(&step - steps_.data());
}

}  // namespace fathom
