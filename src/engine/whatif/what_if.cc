// Replays the recording with and without the changes.
#include "engine/whatif/what_if.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/whatif/what_if_edits.h"

namespace fathom {
namespace {

/// More than so much of the step without an explanation is worth a warning.
constexpr double kDoubtfulPercent = 5;

StepForecast forecast(const Prediction& prediction) {
  return {.median = prediction.median, .mean = prediction.mean, .path = prediction.path};
}

/// What a change gives at best may wait where the cautious one does not: loading that runs ahead on
/// one thread can be slower than the rest of the step. Of each step the shorter is the best.
void put_in_order(Prediction& best, Prediction& worst) {
  if (worst.median < best.median) std::swap(best.path, worst.path);
  for (std::size_t i = 0; i < best.steps.size(); ++i) {
    if (worst.steps[i] < best.steps[i]) std::swap(best.steps[i], worst.steps[i]);
  }
  summarise(best);
  summarise(worst);
}

/// Scaled targets take exactly that part of their time: then there is one replay, not two.
bool same(const Edits& a, const Edits& b) {
  return a.scale == b.scale && a.remove == b.remove && a.no_wait == b.no_wait &&
         a.overlap == b.overlap && a.hide == b.hide && a.launch_once == b.launch_once;
}

}  // namespace

bool WhatIfRequest::empty() const {
  return scale.empty() && roof.empty() && fuse.empty() && !remove_syncs && !overlap_input &&
         !launch_once && !pin_copies && !hide_communication;
}

PathPart bound_by(const StepForecast& forecast) {
  return static_cast<PathPart>(std::ranges::max_element(forecast.path) - forecast.path.begin());
}

WhatIfModel::WhatIfModel(const Session& session, const Selection& selection, Replay replay)
    : session_(&session),
      selection_(selection),
      replay_(std::move(replay)),
      before_(replay_.run({})),
      residuals_(replay_.residuals()) {}

Result<WhatIfModel> WhatIfModel::build(const Session& session,
                                       const std::optional<Selection::StepRange>& steps,
                                       const std::optional<WindowRequest>& window) {
  Request selected;
  selected.steps = steps;
  selected.window = window;
  Result<Selection> selection = session.select(selected);
  if (!selection) return std::move(selection).error();
  const Context context{session.trace(), session.analyses(), *selection, {}};
  return WhatIfModel(session, *selection, Replay::for_predictions(context));
}

Result<WhatIf> WhatIfModel::run(const WhatIfRequest& request) const {
  const TableOptions options{.peaks = request.peaks};
  const Context context{session_->trace(), session_->analyses(), selection_, options};
  Result<WhatIfEdits> edits = what_if_edits(context, request);
  if (!edits) return std::move(edits).error();
  WhatIf result;
  result.input = session_->input();
  result.step_name = context.steps().name;
  result.step_note = context.steps().note;
  result.steps = before_.steps.size();
  result.before = forecast(before_);
  Prediction best, worst;
  if (same(edits->best, edits->worst)) {
    best = replay_.run(edits->best);
    worst = best;
  } else {
    both_in_parallel([&] { best = replay_.run(edits->best); },
                     [&] { worst = replay_.run(edits->worst); });
  }
  put_in_order(best, worst);
  result.best = forecast(best);
  result.worst = forecast(worst);
  result.changes = std::move(edits->changes);
  result.residuals = residuals_;
  if (result.residuals.percent() > kDoubtfulPercent) {
    result.notes.push_back(
        "Much of the step waits for something that the recording does not "
        "show; it is taken to stay as it is.");
  }
  return result;
}

Result<WhatIf> what_if(const Session& session, const WhatIfRequest& request) {
  const Result<WhatIfModel> model = WhatIfModel::build(session, request.steps, request.window);
  if (!model) return model.error();
  return model->run(request);
}

}  // namespace fathom
