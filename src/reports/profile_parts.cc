// Finds out what of a selection a profile is divided by.
#include "reports/profile_parts.h"

#include "reports/step_selection.h"

namespace fathom {

ProfileParts::ProfileParts(const Context& context)
    : context_(context),
      steps_(context.selection.steps.has_value()),
      window_(context.selection.window.has_value()) {
  if (!window_) return;
  Context without_steps = context;
  without_steps.selection.steps.reset();
  windows_ = without_steps.window();
}

bool ProfileParts::selects(Interval when, std::int64_t step) const {
  if (steps_) {
    const Selection::StepRange& range = *context_.selection.steps;
    if (step == kAbsent || step < range.first || step > range.last) return false;
  }
  return !window_ || (windows_.begin <= when.begin && when.begin < windows_.end);
}

void ProfileParts::note(std::string_view what, std::vector<std::string>& notes) const {
  if (!divided()) {
    if (left_alone_)
      notes.emplace_back(
          "A process ended without a word, as by a kill: of it there are the steps that were "
          "written before.");
    return;
  }
  notes.push_back(std::string(what) +
                  (steps_
                       ? " are those of the selected steps, in all threads."
                       : " are of the steps, and of what lies between two of them, that begin in "
                         "the window."));
  std::set<std::int64_t> missing;
  for (const Step& step : context_.steps().steps)
    if (selects_step(context_, step) && !found_.contains(step.number)) missing.insert(step.number);
  if (missing.empty() || context_.steps().source == StepSource::whole_trace) return;
  const std::string which =
      missing.size() == 1
          ? "Step " + std::to_string(*missing.begin()) + " has no sums of its own"
          : std::to_string(missing.size()) + " selected steps have no sums of their own";
  notes.push_back(which +
                  ": only the native recorder divides a profile, and no step whose beginning it "
                  "learnt of later, as of the first one.");
}

}  // namespace fathom
