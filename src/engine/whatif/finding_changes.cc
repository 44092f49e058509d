// Takes the changes out of a diagnosis.
#include "engine/whatif/finding_changes.h"

#include <algorithm>
#include <utility>

namespace fathom {
namespace {

void take(RankedFinding& ranked, std::vector<FindingChange>& changes) {
  if (ranked.gain) {
    changes.push_back({.id = std::move(ranked.id),
                       .edits = std::move(ranked.finding.edits),
                       .assumption = std::move(ranked.finding.assumption),
                       .step = ranked.step,
                       .gain = *ranked.gain});
  }
  for (RankedFinding& each : ranked.alternatives) take(each, changes);
}

}  // namespace

std::uint64_t FindingChange::slices() const {
  return edits.scale.size() + edits.remove.size() + edits.no_wait.size() + edits.overlap.size() +
         edits.hide.size();
}

FindingChanges::FindingChanges(const Session& session,
                               const std::optional<Selection::StepRange>& steps,
                               const std::optional<WindowRequest>& window)
    : session_(&session) {
  request_.steps = steps;
  request_.window = window;
}

void FindingChanges::diagnose_once() {
  once_.call([this] {
    Result<Diagnosis> made = diagnose(*session_, request_);
    if (!made) {
      failure_ = std::move(made).error();
      return;
    }
    std::vector<FindingChange> changes;
    for (RankedFinding& ranked : made->findings) take(ranked, changes);
    changes_ = std::move(changes);
  });
}

Result<const FindingChange*> FindingChanges::find(const std::string& id) {
  diagnose_once();
  if (failure_) return *failure_;
  const auto found = std::ranges::find(changes_, id, &FindingChange::id);
  if (found == changes_.end()) {
    return Error{ErrorCode::invalid_argument,
                 "finding " + id +
                     ": none of this id predicts a step time here; fathom diagnose --json has ids"};
  }
  return &*found;
}

}  // namespace fathom
