// Has programs time their steps, run by run, and records nothing else of them but telemetry.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "capture/launcher/manifest.h"
#include "engine/diagnosis/session_steps.h"
#include "record/telemetry.h"
#include "wire/writer.h"

namespace fathom::record {

/// What is to be recorded of each run.
struct StepWatchOptions {
  bool steps = true;       ///< By the hook, of Python programs.
  bool telemetry = false;  ///< Energy, clocks and memory of devices.
  double telemetry_hz = 10;
};

/// Does the driver show any GPU?
bool gpus_here();

/// The hook of `fathom run` without torch.profiler and injected libraries: what it costs is in
/// docs/overhead.md. What programs write meanwhile is in a folder for temporary files, which goes
/// with this, or in session folders that are named.
class StepWatch {
 public:
  /// Errors: io, where no such folder can be made.
  static Result<std::unique_ptr<StepWatch>> create(const StepWatchOptions& options = {});
  ~StepWatch();
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;

  /// From the next run on. The hook stays where it is.
  void watch(const StepWatchOptions& options) { options_ = options; }
  [[nodiscard]] const StepWatchOptions& options() const { return options_; }

  /// NAME=VALUE for the next program, on top of its environment. `session`: a new folder that
  /// keeps what it writes; "" for none. Errors: io.
  Result<std::vector<std::string>> begin(const std::string& session = {});
  /// The program runs: what is sampled beside it begins here.
  void started(pid_t pid);
  /// What the program since begin() has timed, and its devices.
  SessionMeasured end();
  /// What telemetry could not record of the last run, with the reasons.
  [[nodiscard]] const std::vector<capture::NotRecorded>& not_recorded() const {
    return sampled_.not_recorded;
  }
  /// The GPUs that telemetry found in the last run.
  [[nodiscard]] const std::vector<capture::GpuFacts>& gpus() const { return sampled_.gpus; }

 private:
  explicit StepWatch(std::string folder);

  std::string folder_;
  std::string session_;
  StepWatchOptions options_;
  std::unique_ptr<wire::Writer> writer_;
  std::unique_ptr<Telemetry> telemetry_;
  capture::Manifest sampled_;
};

}  // namespace fathom::record
