// Folder, manifest, hook, launch, wait, manifest.
#include "cli/run_capture.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>

#include <sys/wait.h>
#include <unistd.h>

#include "capture/launcher/conditions.h"
#include "capture/launcher/crashes.h"
#include "capture/launcher/cuda_notes.h"
#include "capture/launcher/hook.h"
#include "capture/launcher/injections.h"
#include "capture/launcher/limits.h"
#include "capture/launcher/monitor_file.h"
#include "capture/launcher/redact.h"
#include "capture/launcher/session_folder.h"
#include "capture/launcher/supervise.h"
#include "capture/system/launch.h"
#include "capture/system/signals.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/version.h"
#include "engine/diagnosis/measured_overhead.h"
#include "monitor/gpus.h"
#include "monitor/sampler.h"

namespace fathom::cli {
namespace {

namespace cap = fathom::capture;

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string current_folder() {
  std::error_code failure;
  return std::filesystem::current_path(failure).string();
}

cap::Manifest conditions(const RunWish& wish, const std::string& name) {
  cap::Manifest manifest;
  manifest.version = version();
  manifest.name = name;
  manifest.command = cap::redact_command(wish.command);
  manifest.directory = current_folder();
  manifest.environment = cap::environment_that_matters();
  manifest.recording = wish.recording;
  manifest.telemetry_hz = wish.telemetry_hz;
  manifest.price = wish.price;
  manifest.carbon = wish.carbon;
  manifest.git = cap::read_git(manifest.directory);
  manifest.host = cap::read_host();
  manifest.cgroup = cap::read_cgroup();
  manifest.load_at_start = cap::read_load();
  return manifest;
}

/// What the program is told (docs/capture.md).
std::vector<std::string> variables(const RunWish& wish, const std::string& folder,
                                   const cap::Injections& injections) {
  const char* before = std::getenv("PYTHONPATH");
  std::string path = folder + "/hook";
  if (before != nullptr && *before != '\0') path += ":" + std::string(before);
  std::vector<std::string> all = injections.variables;
  all.push_back("FATHOM_SESSION=" + folder);
  all.push_back("FATHOM_OPTIONS=" + cap::to_json(wish.recording));
  all.push_back("PYTHONPATH=" + path);
  return all;
}

/// Sentences about how the program ended, for who watches.
void say_ending(const cap::Ending& ending, const Captured& captured, const cap::Say& say) {
  const pid_t pid = captured.manifest.processes.front().pid;
  if (!ending.status) {
    say("gave up waiting for the program, which still runs (process " + std::to_string(pid) +
        "); what it has recorded so far is kept");
  } else if (WIFSIGNALED(*ending.status)) {
    const int signal = WTERMSIG(*ending.status);
    say("the program was ended by " + cap::signal_name(signal) + " (exit code " +
        std::to_string(128 + signal) + ")" +
        (captured.manifest.killed_for_memory ? ": the kernel killed it for want of memory" : ""));
  } else if (WEXITSTATUS(*ending.status) != 0) {
    say("the program ended with exit code " + std::to_string(WEXITSTATUS(*ending.status)));
  }
  if (!ending.left.empty() && ending.status) {
    std::string pids;
    for (const pid_t left : ending.left) pids += (pids.empty() ? "" : ", ") + std::to_string(left);
    say(std::to_string(ending.left.size()) + " background process" +
        (ending.left.size() == 1 ? "" : "es") + " of the program still ran when it had ended (" +
        pids + "): what they do from now on is not recorded");
  }
}

void complete(const cap::Ending& ending, const cap::ProcessTree& tree, Captured& captured) {
  cap::Manifest& manifest = captured.manifest;
  manifest.ended_unix = unix_ns();
  manifest.status = ending.status;
  manifest.processes = tree.processes();
  manifest.load_at_end = cap::read_load();
  const auto kills = cap::read_cgroup().oom_kills;
  manifest.killed_for_memory = ending.status && WIFSIGNALED(*ending.status) &&
                               WTERMSIG(*ending.status) == SIGKILL && kills &&
                               manifest.cgroup.oom_kills.value_or(0) < *kills;
  captured.gave_up = !ending.status;
  captured.code = ending.status ? cap::exit_code_of(*ending.status) : 128 + SIGINT;
}

/// Telemetry beside the program. Asking the GPUs' driver may take a while, which the program and
/// its signals do not wait for.
class Telemetry {
 public:
  Telemetry(const RunWish& wish, const cap::Launched& launched, const std::string& session,
            wire::Writer& writer) {
    if (wish.telemetry_hz <= 0) return;
    monitor::SamplerOptions options;
    options.period_ns = static_cast<std::int64_t>(1e9 / wish.telemetry_hz);
    options.tree = {.root = launched.pid, .launcher = getpid(), .session = session};
    started_ = std::async(std::launch::async, [options, &writer] {
      return std::pair(monitor::Sampler::start(writer, options), monitor::describe_gpus());
    });
  }

  /// Ends it, and says what it knows.
  void stop_into(cap::Manifest& manifest) {
    if (!started_.valid()) return;
    const auto [sampler, system] = started_.get();
    sampler->stop();
    for (const monitor::GpuDescription& gpu : system.gpus) {
      manifest.gpus.push_back({.name = gpu.name,
                               .uuid = gpu.uuid,
                               .driver = system.driver,
                               .memory = gpu.memory_bytes.value_or(0),
                               .power_limit = gpu.power_limit_w.value_or(0)});
    }
    for (const monitor::Missing& missing : sampler->missing())
      manifest.not_recorded.push_back(
          {missing.what, missing.why, missing.remedy, cap::lost_with(missing.what)});
  }

 private:
  std::future<std::pair<std::unique_ptr<monitor::Sampler>, monitor::GpuSystem>> started_;
};

/// Records while the program runs, into `writer`. An Error where it could not be started.
Result<void> record(const RunWish& wish, const cap::SessionFolder& folder, wire::Writer& writer,
                    const cap::SignalGate& gate, const cap::Say& say, Captured& captured) {
  const cap::Injections injections = cap::prepare_injections(folder.absolute);
  Result<cap::Launched> launched =
      cap::launch(wish.command, variables(wish, folder.absolute, injections), gate.before());
  if (!launched) return std::move(launched).error();
  captured.ran = true;
  cap::ProcessTree tree(*launched, wish.command, &writer);
  Telemetry telemetry(wish, *launched, folder.absolute, writer);
  const cap::Ending ending = cap::supervise(gate, tree, say);
  complete(ending, tree, captured);
  captured.manifest.overhead = measured_overhead(folder.absolute);
  captured.manifest.not_recorded = cap::limits_of(captured.manifest, folder.absolute);
  captured.manifest.not_recorded.insert(captured.manifest.not_recorded.end(),
                                        injections.not_recorded.begin(),
                                        injections.not_recorded.end());
  for (const std::string& cost : cap::cuda_notes(folder.absolute).measured) say(cost);
  telemetry.stop_into(captured.manifest);
  writer.close();
  say_ending(ending, captured, say);
  for (const cap::Crash& crash : cap::crashes_of(folder.absolute)) say(cap::sentence_of(crash));
  return {};
}

void save(const cap::SessionFolder& folder, const cap::Manifest& manifest) {
  const Result<void> written = cap::write_manifest(folder.absolute, manifest);
  if (!written) say_error(written.error().message);
}

}  // namespace

Captured capture_run(const RunWish& wish) {
  Captured captured;
  const std::string name = wish.name.empty() ? cap::name_of(wish.command) : wish.name;
  const cap::SignalGate gate;
  const cap::Say say = [&](const std::string& text) {
    if (!wish.quiet) say_error(text);
  };
  const Result<cap::SessionFolder> folder = cap::make_session_folder(wish.output, name);
  if (!folder) {
    captured.code = fail(folder.error());
    return captured;
  }
  captured.folder = folder->path;
  if (!folder->warning.empty()) say_warning(folder->warning, wish.quiet);
  const auto leave_nothing = [&] {
    std::error_code ignored;
    if (wish.output.empty()) std::filesystem::remove_all(folder->absolute, ignored);
  };
  const Result<std::unique_ptr<wire::Writer>> writer =
      cap::open_monitor_file(folder->absolute, wish.recording);
  if (!writer) {
    say_error(writer.error().message + "; the program has not run (-o names another folder)");
    leave_nothing();
    captured.code = kUsage;
    return captured;
  }
  captured.manifest = conditions(wish, name);
  captured.manifest.started_unix = unix_ns();
  save(*folder, captured.manifest);
  const Result<void> unpacked = cap::unpack_hook(folder->absolute + "/hook");
  if (!unpacked) say_error(unpacked.error().message);
  say("recording into " + folder->path);
  const Result<void> recorded = record(wish, *folder, **writer, gate, say, captured);
  if (!recorded) {
    say_error(recorded.error().message);
    captured.code = cap::exit_code_of_failure(recorded.error());
    captured.manifest.ended_unix = unix_ns();
    leave_nothing();  // Of a slip of the hand.
    if (wish.output.empty()) return captured;
  }
  save(*folder, captured.manifest);
  return captured;
}

}  // namespace fathom::cli
