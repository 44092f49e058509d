// A folder for the hook, and in it one for what each run writes.
#include "record/step_watch.h"

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "capture/launcher/compiled_hook.h"
#include "capture/launcher/hook.h"
#include "capture/launcher/monitor_file.h"
#include "capture/launcher/recording.h"
#include "monitor/gpus.h"

namespace fathom::record {
namespace {

/// No step of a run is recorded in depth.
capture::Recording steps_only() {
  capture::Recording recording;
  recording.steps.skip_first = std::numeric_limits<std::int32_t>::max();
  recording.overhead = false;
  recording.cuda = "off";
  return recording;
}

Error no_folder(const std::string& path) {
  return {ErrorCode::io, path +
                             ": no folder can be made for what programs write (TMPDIR names "
                             "another place)"};
}

}  // namespace

bool gpus_here() { return !monitor::describe_gpus().gpus.empty(); }

StepWatch::StepWatch(std::string folder) : folder_(std::move(folder)) {}

StepWatch::~StepWatch() {
  capture::keep_compiled_hook(folder_ + "/hook");
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<StepWatch>> StepWatch::create(const StepWatchOptions& options) {
  std::error_code failure;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(failure);
  std::string path = (failure ? std::string("/tmp") : temporary.string()) + "/fathom-steps-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return no_folder(path);
  std::unique_ptr<StepWatch> watch(new StepWatch(path));
  watch->options_ = options;
  if (const Result<void> unpacked = capture::unpack_hook(path + "/hook"); !unpacked)
    return unpacked.error();
  return watch;
}

Result<std::vector<std::string>> StepWatch::begin(const std::string& session) {
  std::error_code failure;
  session_ = session.empty() ? folder_ + "/run" : session;
  if (session.empty()) std::filesystem::remove_all(session_, failure);
  std::filesystem::create_directories(session_, failure);
  if (failure) return no_folder(session_);
  sampled_ = {};
  if (options_.telemetry) {
    Result<std::unique_ptr<wire::Writer>> writer =
        capture::open_monitor_file(session_, steps_only());
    if (!writer) return std::move(writer).error();
    writer_ = std::move(*writer);
  }
  // A program that finds FATHOM_SESSION expects the hook.
  if (!options_.steps) return std::vector<std::string>();
  return capture::hook_variables(folder_ + "/hook", session_, steps_only());
}

void StepWatch::started(pid_t pid) {
  if (!writer_) return;
  telemetry_ = std::make_unique<Telemetry>(options_.telemetry_hz, pid, session_, *writer_);
}

SessionMeasured StepWatch::end() {
  if (telemetry_) telemetry_->stop_into(sampled_);
  telemetry_.reset();
  if (writer_) writer_->close();
  writer_.reset();
  return session_measured(session_);
}

}  // namespace fathom::record
