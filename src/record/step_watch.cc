// A folder for the hook, and in it one for what each run writes.
#include "record/step_watch.h"

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "capture/launcher/compiled_hook.h"
#include "capture/launcher/hook.h"
#include "capture/launcher/recording.h"

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

StepWatch::StepWatch(std::string folder) : folder_(std::move(folder)) {}

StepWatch::~StepWatch() {
  capture::keep_compiled_hook(folder_ + "/hook");
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<StepWatch>> StepWatch::create() {
  std::error_code failure;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(failure);
  std::string path = (failure ? std::string("/tmp") : temporary.string()) + "/fathom-steps-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return no_folder(path);
  std::unique_ptr<StepWatch> watch(new StepWatch(path));
  if (const Result<void> unpacked = capture::unpack_hook(path + "/hook"); !unpacked)
    return unpacked.error();
  return watch;
}

std::string StepWatch::session() const { return folder_ + "/run"; }

Result<std::vector<std::string>> StepWatch::begin() {
  std::error_code failure;
  std::filesystem::remove_all(session(), failure);
  std::filesystem::create_directory(session(), failure);
  if (failure) return no_folder(session());
  return capture::hook_variables(folder_ + "/hook", session(), steps_only());
}

std::optional<SessionSteps> StepWatch::end() { return session_steps(session()); }

}  // namespace fathom::record
