// Finds the steps and windows of a selection.
#include "reports/step_selection.h"

#include <algorithm>
#include <optional>

namespace fathom {

bool selects_step(const Context& context, const Step& step) {
  const Selection& selection = context.selection;
  if (selection.steps &&
      (step.number < selection.steps->first || step.number > selection.steps->last)) {
    return false;
  }
  if (!selection.window) return true;
  const Interval window = context.window();
  return step.window.begin < window.end && window.begin < step.window.end;
}

Interval overview_window(const Context& context, std::int32_t device) {
  if (context.selection.steps || context.selection.window) return context.window();
  std::optional<Interval> window;
  for (const Step& step : context.steps().steps) {
    if (!context.steps().uses(step, device)) continue;
    if (!window) window = step.window;
    window->begin = std::min(window->begin, step.window.begin);
    window->end = std::max(window->end, step.window.end);
  }
  return window.value_or(context.window());
}

}  // namespace fathom
