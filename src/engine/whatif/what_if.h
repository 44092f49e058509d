// What-if: the recording replayed with changes in it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session.h"
#include "replay/replay.h"

namespace fathom {

/// Changes as typed. All of them are made together, in the order of the members.
struct WhatIfRequest {
  std::optional<Selection::StepRange> steps;
  std::optional<WindowRequest> window;
  /// "TARGET=FACTOR". A target is the exact name of an operator, annotation or call (with all
  /// inside it, and all that it launched), or op:REGEX likewise for operators, host:REGEX (host
  /// time only, of operators and calls), kernel:REGEX (device activities), phase:NAME.
  std::vector<std::string> scale;
  /// "REGEX=FRACTION": kernels of these names, or of operators of these names, get as near as that
  /// to the roof of their operator.
  std::vector<std::string> roof;
  /// Whose peaks that roof is of, instead of the recorded device's. Borrowed.
  const DeviceSpec* peaks = nullptr;
  std::vector<std::string> fuse;  ///< REGEX: neighbouring kernels of these names become one.
  /// Ids of findings of a diagnosis of these steps: what they propose is changed. One by itself
  /// gives the step time that the diagnosis predicts. Beside other changes it saves all that it may
  /// at best, and nothing at worst.
  std::vector<std::string> findings;
  bool remove_syncs = false;
  bool overlap_input = false;
  bool launch_once = false;
  bool pin_copies = false;
  bool hide_communication = false;
  [[nodiscard]] bool empty() const;
};

/// One of the changes, and what it found to change.
struct WhatIfChange {
  std::string what;          ///< "scale aten::mm=0.5".
  std::uint64_t slices = 0;  ///< How many calls or activities it concerns, in the whole trace.
  std::string assumption;    ///< What must hold for the best and for the worst of the interval.
};

/// A step time with what bounds it.
struct StepForecast {
  Duration median{};
  Duration mean{};
  std::array<Duration, kPathParts> path{};  ///< Of the median step; by PathPart.
};

struct WhatIf {
  std::string input;
  std::string step_name;  ///< What repeats; empty for a whole trace.
  std::string step_note;  ///< How steps were found, where that is not plain.
  std::size_t steps = 0;  ///< Replayed.
  StepForecast before;
  StepForecast best;   ///< The changes do all that they may.
  StepForecast worst;  ///< They do what is left of it under the assumptions.
  std::vector<WhatIfChange> changes;
  Residuals residuals;
  std::vector<std::string> notes;
};

class FindingChanges;
struct FindingChange;
struct KeptEdits;

/// The graph of a recording's steps, for what changes in them: made once, asked often.
class WhatIfModel {
 public:
  /// Of the steps that are selected. Borrows the session. Errors: invalid_argument for steps that
  /// the trace does not have.
  static Result<WhatIfModel> build(const Session& session,
                                   const std::optional<Selection::StepRange>& steps,
                                   const std::optional<WindowRequest>& window);

  /// Deterministic; thread-safe. The request's steps and window must be those of the model. Errors:
  /// invalid_argument for a change that makes no sense or that finds nothing to change.
  [[nodiscard]] Result<WhatIf> run(const WhatIfRequest& request) const;

 private:
  WhatIfModel(const Session& session, const Selection& selection, Replay replay,
              std::shared_ptr<FindingChanges> findings);

  /// The step time that the diagnosis predicts of it, and what bounds the step then.
  void replay_finding(const FindingChange& finding, WhatIf& result) const;

  const Session* session_;
  Selection selection_;
  Replay replay_;
  Prediction before_;
  Residuals residuals_;
  std::shared_ptr<FindingChanges> findings_;
  std::shared_ptr<KeptEdits> kept_;
};

/// Both at once. Errors: of either.
Result<WhatIf> what_if(const Session& session, const WhatIfRequest& request);

/// The part with the largest share of the path.
PathPart bound_by(const StepForecast& forecast);

}  // namespace fathom
