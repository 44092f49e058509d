// What a session folder says of one run without a diagnosis: its steps, epochs and devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom {

struct SessionSteps {
  std::vector<std::int64_t> ns;  ///< The length of each, in their order; at least one.
  std::int64_t waited_ns = 0;    ///< For batches of data loaders, in all of them.
  /// Of each step, where the program (the counter "step.samples") or its loader tells it; else
  /// empty.
  std::vector<double> samples;
};

/// Of the first recording of the folder (lowest rank) that has steps; unset where none has, and
/// where nothing can be read.
std::optional<SessionSteps> session_steps(const std::string& folder);

/// A GPU while it worked for the steps after the first; without steps, while the run lasted.
struct GpuPace {
  std::int32_t gpu = 0;  ///< As NVML numbers it.
  double sm_mhz = 0;     ///< Mean of its SM clock.
  /// Why the clock was lowered ("hw_thermal"), and in which share of the time; by name.
  std::vector<std::pair<std::string, double>> throttled;
};

struct SessionDevices {
  std::optional<double> joules;           ///< Of the run, of all that has a counter or a meter.
  std::optional<double> joules_per_step;  ///< Mean of the steps that were covered.
  /// Mean of the epochs that were covered after the first; of a single one, that one.
  std::optional<double> joules_per_epoch;
  std::string consumers;             ///< Whose they are: "GPU 0, CPU package-0".
  std::optional<double> gpu_memory;  ///< Bytes: the most that was in use on one GPU.
  std::vector<GpuPace> paces;        ///< Of GPUs that were in use, by number.
};

/// What a run spends time in, by name.
struct SessionPhase {
  /// "compilation", "checkpoint", "load" and "evaluation" are the recorder's; others are ranges of
  /// the program's own (fathom.annotate).
  std::string name;
  double ns = 0;  ///< Of the run; of a range of the program: the mean of the steps after the first.
  bool of_step = false;  ///< It is of a step.
};

struct SessionMeasured {
  std::optional<SessionSteps> steps;
  std::vector<std::int64_t> epochs_ns;  ///< Ranges that the program calls "epoch", "epoch 3", …
  /// The recorder's in a fixed order, then the program's that lie in a step, by name.
  std::vector<SessionPhase> phases;
  std::optional<SessionDevices> devices;  ///< Unset where no telemetry was recorded.
  /// What the program said of itself that bears on speed: "PyTorch" and "2.6.0", threads, switches,
  /// seed, in an order of its own. Empty where the hook was not there.
  std::vector<std::pair<std::string, std::string>> facts;
};

/// All of that, of the recording that session_steps() takes, else of the first.
SessionMeasured session_measured(const std::string& folder);

}  // namespace fathom
