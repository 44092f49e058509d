// Replays the recording with and without the changes.
#include "engine/whatif/what_if.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/parallel.h"
#include "engine/diagnosis/combine_edits.h"
#include "engine/whatif/finding_changes.h"
#include "engine/whatif/kept_edits.h"
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

void replay_both(const Replay& replay, const WhatIfEdits& edits, WhatIf& result) {
  Prediction best, worst;
  if (same(edits.best, edits.worst)) {
    best = replay.run(edits.best);
    worst = best;
  } else {
    both_in_parallel([&] { best = replay.run(edits.best); },
                     [&] { worst = replay.run(edits.worst); });
  }
  put_in_order(best, worst);
  result.best = forecast(best);
  result.worst = forecast(worst);
}

/// Those of findings and the others at once.
Edits with_changes_of(const std::vector<const FindingChange*>& findings, Edits others) {
  if (findings.empty()) return others;
  std::vector<const Edits*> all;
  all.reserve(findings.size() + 1);
  for (const FindingChange* const finding : findings) all.push_back(&finding->edits);
  all.push_back(&others);
  return combine_edits(all);
}

std::vector<WhatIfChange> changes_of(const Context& context,
                                     const std::vector<const FindingChange*>& findings,
                                     bool by_itself) {
  std::vector<WhatIfChange> changes;
  changes.reserve(findings.size());
  for (const FindingChange* const finding : findings) {
    changes.push_back(
        {.what = "finding " + finding->id,
         .slices = finding->slices() + (finding->edits.launch_once ? count_launches(context) : 0),
         .assumption =
             by_itself ? finding->assumption : "beside other changes it saves nothing at worst"});
  }
  return changes;
}

}  // namespace

bool WhatIfRequest::empty() const {
  return scale.empty() && roof.empty() && fuse.empty() && findings.empty() && !remove_syncs &&
         !overlap_input && !launch_once && !pin_copies && !hide_communication;
}

PathPart bound_by(const StepForecast& forecast) {
  return static_cast<PathPart>(std::ranges::max_element(forecast.path) - forecast.path.begin());
}

WhatIfModel::WhatIfModel(const Session& session, const Selection& selection, Replay replay,
                         std::shared_ptr<FindingChanges> findings)
    : session_(&session),
      selection_(selection),
      replay_(std::move(replay)),
      before_(replay_.run({})),
      residuals_(replay_.residuals()),
      findings_(std::move(findings)),
      kept_(std::make_shared<KeptEdits>(session.trace().slices.size())) {}

Result<WhatIfModel> WhatIfModel::build(const Session& session,
                                       const std::optional<Selection::StepRange>& steps,
                                       const std::optional<WindowRequest>& window) {
  Request selected;
  selected.steps = steps;
  selected.window = window;
  Result<Selection> selection = session.select(selected);
  if (!selection) return std::move(selection).error();
  const Context context{session.trace(), session.analyses(), *selection, {}};
  return WhatIfModel(session, *selection, Replay::for_predictions(context),
                     std::make_shared<FindingChanges>(session, steps, window));
}

void WhatIfModel::replay_finding(const FindingChange& finding, WhatIf& result) const {
  result.best = forecast(replay_.run(finding.edits));
  result.worst = result.before;
  const Duration saved = std::max(result.before.median - result.best.median, Duration{});
  const Duration low = finding.gain.low;
  const Duration likely = finding.gain.likely;
  if (to_ns(likely) > 0) {
    const double share = static_cast<double>(to_ns(low)) / static_cast<double>(to_ns(likely));
    result.worst.median -= Duration(std::llround(share * static_cast<double>(to_ns(saved))));
  }
  result.before.mean = finding.step;
  result.best.mean = finding.step - likely;
  result.worst.mean = finding.step - low;
  result.notes.emplace_back(
      "The mean is that of the steps which the finding is about, as the diagnosis predicts it.");
}

Result<WhatIf> WhatIfModel::run(const WhatIfRequest& request) const {
  const TableOptions options{.peaks = request.peaks};
  const Context context{session_->trace(), session_->analyses(), selection_, options};
  const ReplayedEdits replayed{.replay = replay_, .kept = *kept_};
  Result<WhatIfEdits> edits = what_if_edits(context, request, &replayed);
  if (!edits) return std::move(edits).error();
  std::vector<const FindingChange*> findings;
  for (const std::string& id : request.findings) {
    const Result<const FindingChange*> found = findings_->find(id);
    if (!found) return found.error();
    if (std::ranges::find(findings, *found) == findings.end()) findings.push_back(*found);
  }
  const bool by_itself = findings.size() == 1 && edits->changes.empty();
  WhatIf result;
  result.input = session_->input();
  result.step_name = context.steps().name;
  result.step_note = context.steps().note;
  result.steps = before_.steps.size();
  result.before = forecast(before_);
  if (by_itself) {
    replay_finding(*findings.front(), result);
  } else {
    edits->best = with_changes_of(findings, std::move(edits->best));
    replay_both(replay_, *edits, result);
  }
  result.changes = changes_of(context, findings, by_itself);
  result.changes.insert(result.changes.end(), std::move_iterator(edits->changes.begin()),
                        std::move_iterator(edits->changes.end()));
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
