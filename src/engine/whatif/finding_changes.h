// FindingChanges: the changes that findings propose, for the replay of a what-if.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/once.h"
#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// What one finding changes, and what the diagnosis predicts of it.
struct FindingChange {
  std::string id;
  Edits edits;
  std::string assumption;
  Duration step{};  ///< Mean of the steps that it is about.
  RankedFinding::Gain gain;
  /// Named one by one; without the launches of `launch_once`.
  [[nodiscard]] std::uint64_t slices() const;
};

/// Of the findings that a diagnosis of these steps predicts a step time for. The diagnosis is made
/// when the first is asked for. Thread-safe. Borrows the session.
class FindingChanges {
 public:
  FindingChanges(const Session& session, const std::optional<Selection::StepRange>& steps,
                 const std::optional<WindowRequest>& window);

  /// Errors: invalid_argument where no finding of this id predicts anything; those of diagnose().
  [[nodiscard]] Result<const FindingChange*> find(const std::string& id);

 private:
  void diagnose_once();

  const Session* session_;
  DiagnosisRequest request_;
  Once once_;
  std::optional<Error> failure_;
  std::vector<FindingChange> changes_;
};

}  // namespace fathom
