// Records one command: session folder, manifest, hook, launch, wait, manifest.
#include "record/run.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include <sys/wait.h>

#include "capture/launcher/compiled_hook.h"
#include "capture/launcher/conditions.h"
#include "capture/launcher/crashes.h"
#include "capture/launcher/cuda_notes.h"
#include "capture/launcher/hook.h"
#include "capture/launcher/injections.h"
#include "capture/launcher/monitor_file.h"
#include "capture/launcher/not_recorded.h"
#include "capture/launcher/redact.h"
#include "capture/launcher/session_folder.h"
#include "capture/launcher/supervise.h"
#include "capture/system/disk.h"
#include "capture/system/launch.h"
#include "capture/system/signals.h"
#include "engine/diagnosis/measured_overhead.h"
#include "record/samples.h"
#include "record/telemetry.h"
#include "record/unix_time.h"

namespace fathom::record {
namespace {

namespace cap = fathom::capture;

std::string current_folder() {
  std::error_code failure;
  return std::filesystem::current_path(failure).string();
}

cap::Manifest conditions(const RunOptions& options, const std::string& name) {
  cap::Manifest manifest;
  manifest.version = options.version;
  manifest.name = name;
  manifest.command = cap::redact_command(options.command);
  manifest.directory = current_folder();
  manifest.environment = cap::environment_that_matters();
  manifest.recording = options.recording;
  manifest.telemetry_hz = options.telemetry_hz;
  manifest.price = options.price;
  manifest.carbon = options.carbon;
  manifest.git = cap::read_git(manifest.directory);
  manifest.host = cap::read_host();
  manifest.cgroup = cap::read_cgroup();
  manifest.load_at_start = cap::read_load();
  manifest.started_unix = unix_ns();
  return manifest;
}

/// The environment by which the program records itself (docs/capture.md).
std::vector<std::string> variables(const RunOptions& options, const std::string& folder,
                                   const cap::Injections& injections) {
  std::vector<std::string> all = injections.variables;
  for (std::string& variable : cap::hook_variables(folder + "/hook", folder, options.recording))
    all.push_back(std::move(variable));
  return all;
}

std::string ending_by_signal(int signal, bool killed_for_memory) {
  return "the program was ended by " + cap::signal_name(signal) + " (exit code " +
         std::to_string(128 + signal) + ")" +
         (killed_for_memory ? ": the kernel killed it for lack of memory" : "");
}

std::string still_running(const std::vector<pid_t>& left) {
  std::string pids;
  for (const pid_t pid : left) pids += (pids.empty() ? "" : ", ") + std::to_string(pid);
  return std::to_string(left.size()) + " background process" + (left.size() == 1 ? "" : "es") +
         " of the program still ran when it had ended (" + pids +
         "): what they do from now on is not recorded";
}

/// Reports how the program ended, where that is worth a word.
void report_ending(const cap::Ending& ending, const cap::Manifest& manifest,
                   const Messages& messages) {
  if (!ending.status) {
    messages.progress("gave up waiting for the program, which still runs (process " +
                      std::to_string(manifest.processes.front().pid) +
                      "); what it has recorded so far is kept");
    return;
  }
  if (WIFSIGNALED(*ending.status)) {
    messages.progress(ending_by_signal(WTERMSIG(*ending.status), manifest.killed_for_memory));
  } else if (WEXITSTATUS(*ending.status) != 0) {
    messages.progress("the program ended with exit code " +
                      std::to_string(WEXITSTATUS(*ending.status)));
  }
  if (!ending.left.empty()) messages.progress(still_running(ending.left));
}

/// The end of the program and what it used, for the manifest.
void complete(const cap::Ending& ending, const cap::ProcessTree& tree, cap::Manifest& manifest) {
  manifest.ended_unix = unix_ns();
  manifest.status = ending.status;
  manifest.processes = tree.processes();
  manifest.load_at_end = cap::read_load();
  const auto kills = cap::read_cgroup().oom_kills;
  manifest.killed_for_memory = ending.status && WIFSIGNALED(*ending.status) &&
                               WTERMSIG(*ending.status) == SIGKILL && kills &&
                               manifest.cgroup.oom_kills.value_or(0) < *kills;
}

/// One run that has its folder and its file.
class Run {
 public:
  Run(const RunOptions& options, const Messages& messages, const cap::SignalGate& gate,
      cap::SessionFolder folder, wire::Writer& writer)
      : options_(options),
        messages_(messages),
        gate_(gate),
        folder_(std::move(folder)),
        writer_(writer) {}

  RunOutcome record(const std::string& name) {
    outcome_.folder = folder_.path;
    outcome_.manifest = conditions(options_, name);
    save();
    report(cap::unpack_hook(folder_.absolute + "/hook"));
    messages_.progress("recording into " + folder_.path);
    if (const Result<void> ran = run(); !ran) {
      report(ran);
      outcome_.exit_code = cap::exit_code_of_failure(ran.error());
      outcome_.manifest.ended_unix = unix_ns();
      // A folder that the user has named stays, and says what happened.
      if (options_.output.empty()) return std::move(outcome_);
    }
    save();
    return std::move(outcome_);
  }

 private:
  /// Errors: the command could not be started.
  Result<void> run() {
    const cap::Injections injections =
        cap::prepare_injections(folder_.absolute, options_.recording.with);
    Result<cap::Launched> launched = cap::launch(
        options_.command, variables(options_, folder_.absolute, injections), gate_.before());
    if (!launched) return std::move(launched).error();
    outcome_.started = true;
    cap::ProcessTree tree(*launched, options_.command, &writer_);
    Samples samples(cap::sampling_of(options_.recording), (*launched).pid, writer_);
    Telemetry telemetry(options_.telemetry_hz, (*launched).pid, folder_.absolute, writer_);
    HangWatch hangs(options_.hang, (*launched).pid, folder_.absolute, options_.show_dump,
                    messages_);
    const cap::Ending ending = cap::supervise(gate_, tree, messages_.progress);
    hangs.stop_into(outcome_.manifest);
    outcome_.exit_code = ending.status ? cap::exit_code_of(*ending.status) : 128 + SIGINT;
    complete(ending, tree, outcome_.manifest);
    add_limits(injections);
    telemetry.stop_into(outcome_.manifest);
    samples.stop_into(outcome_.manifest);
    writer_.close();
    cap::keep_compiled_hook(folder_.absolute + "/hook");
    if (cap::is_disk_full(folder_.absolute)) {
      messages_.error("no space is left on the disk of " + folder_.path +
                      ": what was to be recorded since then is lost (-o names another folder)");
    }
    if (const auto limit = cap::reached_file_limit(folder_.absolute)) {
      messages_.error("a file of " + folder_.path + " has come to the limit of file sizes, " +
                      cap::file_limit_text(*limit) +
                      ": what was to be recorded in it since then is lost");
    }
    report_ending(ending, outcome_.manifest, messages_);
    for (const cap::Crash& crash : cap::crashes_of(folder_.absolute))
      messages_.progress(cap::sentence_of(crash));
    return {};
  }

  /// What was not recorded, and what recording cost.
  void add_limits(const cap::Injections& injections) {
    cap::Manifest& manifest = outcome_.manifest;
    manifest.overhead = measured_overhead(folder_.absolute);
    manifest.not_recorded = cap::limits_of(manifest, folder_.absolute);
    manifest.not_recorded.insert(manifest.not_recorded.end(), injections.not_recorded.begin(),
                                 injections.not_recorded.end());
    for (const std::string& cost : cap::cuda_notes(folder_.absolute).measured)
      messages_.progress(cost);
  }

  void save() { report(cap::write_manifest(folder_.absolute, outcome_.manifest)); }

  void report(const Result<void>& result) const {
    if (!result) messages_.error(result.error().message);
  }

  const RunOptions& options_;
  const Messages& messages_;
  const cap::SignalGate& gate_;
  cap::SessionFolder folder_;
  wire::Writer& writer_;
  RunOutcome outcome_;
};

/// Of a folder that was made for a run which never began.
void remove_folder(const cap::SessionFolder& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder.absolute, ignored);
}

}  // namespace

Result<RunOutcome> record_run(const RunOptions& options, const Messages& messages) {
  const std::string name = options.name.empty() ? cap::name_of(options.command) : options.name;
  const cap::SignalGate gate;
  const Result<cap::SessionFolder> folder = cap::make_session_folder(options.output, name);
  if (!folder) return folder.error();
  if (!(*folder).warning.empty()) messages.warning((*folder).warning);
  const Result<std::unique_ptr<wire::Writer>> writer =
      cap::open_monitor_file((*folder).absolute, options.recording);
  if (!writer) {
    if (options.output.empty()) remove_folder(*folder);
    return Error{ErrorCode::invalid_argument,
                 writer.error().message + "; the program has not run (-o names another folder)"};
  }
  RunOutcome outcome = Run(options, messages, gate, *folder, **writer).record(name);
  if (!outcome.started && options.output.empty()) remove_folder(*folder);
  return outcome;
}

}  // namespace fathom::record
