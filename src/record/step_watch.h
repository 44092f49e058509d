// Has programs time their steps, run by run, and records nothing else of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/diagnosis/session_steps.h"

namespace fathom::record {

/// The hook of `fathom run` without torch.profiler, telemetry and injected libraries: what it costs
/// is in docs/overhead.md. What programs write meanwhile is in a folder for temporary files, which
/// goes with this.
class StepWatch {
 public:
  /// Errors: io, where no such folder can be made.
  static Result<std::unique_ptr<StepWatch>> create();
  ~StepWatch();
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;

  /// NAME=VALUE for the next program, on top of its environment. Errors: io.
  Result<std::vector<std::string>> begin();
  /// What the program since begin() has timed; unset where it had no steps.
  std::optional<SessionSteps> end();

 private:
  explicit StepWatch(std::string folder);
  [[nodiscard]] std::string session() const;

  std::string folder_;
};

}  // namespace fathom::record
