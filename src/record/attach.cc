// Checks that the processes can be reached, serves or samples them, and writes the manifest of
// their session.
#include "record/attach.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "capture/attach/fabric.h"
#include "capture/attach/kineto_targets.h"
#include "capture/launcher/manifest.h"
#include "capture/launcher/monitor_file.h"
#include "capture/launcher/redact.h"
#include "capture/launcher/session_folder.h"
#include "capture/system/proc.h"
#include "record/kineto_recording.h"
#include "record/samples.h"
#include "record/unix_time.h"
#include "sample/process_look.h"

namespace fathom::record {
namespace {

namespace cap = fathom::capture;

Error not_possible(std::string message) {
  return {ErrorCode::invalid_argument, "attach: " + std::move(message)};
}

Result<void> check_there(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids) {
    if (kill(pid, 0) != 0 && errno == ESRCH)
      return not_possible("there is no process " + std::to_string(pid));
  }
  return {};
}

/// Abstract addresses are known within one network namespace only.
Result<void> check_reachable(pid_t pid) {
  std::error_code failure;
  const auto theirs =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/net", failure);
  if (failure) return {};
  const auto ours = std::filesystem::read_symlink("/proc/self/ns/net", failure);
  if (failure || theirs == ours) return {};
  return not_possible(process_title(pid) +
                      " is in another network namespace, where our socket is not seen: run fathom "
                      "attach inside its container");
}

/// PyTorch asks in none of them, whatever it waits for: they were started without the daemon.
bool nobody_asks(const std::vector<cap::KinetoTarget>& targets) {
  return std::ranges::all_of(
      targets, [](const cap::KinetoTarget& target) { return target.readable && !target.daemon; });
}

cap::Manifest conditions(const AttachOptions& options, const std::string& name) {
  const pid_t pid = options.pids.front();
  cap::Manifest manifest;
  manifest.version = options.version;
  manifest.name = name;
  manifest.command = cap::redact_command(cap::read_command(pid));
  std::error_code failure;
  manifest.directory =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/cwd", failure).string();
  manifest.recording.with = options.with;
  manifest.recording.duration = options.duration;
  manifest.host = cap::read_host();
  manifest.cgroup = cap::read_cgroup();
  manifest.load_at_start = cap::read_load();
  manifest.started_unix = unix_ns();
  return manifest;
}

Result<std::unique_ptr<cap::FabricServer>> open_server(pid_t pid) {
  const std::string folder = cap::read_variable(pid, "KINETO_IPC_SOCKET_DIR").value_or("");
  Result<std::unique_ptr<cap::FabricServer>> server = cap::FabricServer::open(folder);
  if (server) return server;
  if (server.error().code != ErrorCode::unsupported) return std::move(server).error().in("attach");
  const std::int32_t owner = cap::owner_of_fabric();
  return not_possible(
      server.error().message + (owner > 0 ? ": " + process_title(owner) : std::string()) +
      "; use that one (dyno gputrace --pids " + std::to_string(pid) + "), or stop it");
}

std::string titles(const std::vector<pid_t>& pids) {
  std::string text;
  for (const pid_t pid : pids) text += (text.empty() ? "" : ", ") + process_title(pid);
  return text;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): set by the handler of Ctrl-C
volatile std::sig_atomic_t interrupted = 0;

/// Ctrl-C ends the recording, not the command.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted = 0;
    struct sigaction ours {};
    ours.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &ours, &before_);
  }
  ~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_ {};
};

/// As if they began now: what they did before is not recorded.
void write_processes(pid_t root, wire::Writer& writer) {
  const std::int64_t now = wire::monotonic_ns();
  for (const pid_t pid : sample::process_tree(root)) {
    const std::optional<cap::ProcStat> stat = cap::read_stat(pid);
    if (!stat) continue;
    std::string name;
    for (const std::string& word : cap::redact_command(cap::read_command(pid)))
      name += (name.empty() ? "" : " ") + word;
    writer.process(now, pid, stat->parent, -1, name.empty() ? stat->name : name,
                   pid == root ? "main" : "child");
  }
}

/// From outside, into the folder.
Result<std::vector<pid_t>> record_from_outside(const AttachOptions& options,
                                               const std::string& folder, cap::Manifest& manifest,
                                               const Messages& messages) {
  const pid_t root = options.pids.front();
  if (!options.with.empty()) {
    messages.warning(
        "--with names what PyTorch's profiler records, which cannot be asked here: threads are "
        "sampled");
  }
  manifest.recording.with = {std::string(cap::kSamples)};
  const Result<std::unique_ptr<wire::Writer>> writer =
      cap::open_monitor_file(folder, manifest.recording);
  if (!writer) return writer.error();
  messages.progress(process_title(root) +
                    " was not started with KINETO_USE_DAEMON=1, so PyTorch cannot be asked for a "
                    "trace: its threads and those of the processes below it are sampled");
  write_processes(root, **writer);
  const InterruptGuard guard;
  const Result<void> sampled = record_samples(
      {.root = root,
       .sampling = {.hz = options.rate ? *options.rate : cap::Sampling().hz, .asked = true},
       .fresh = false,
       .duration = to_ns(options.duration),
       .stop = [] { return interrupted != 0; }},
      **writer, manifest.not_recorded);
  (*writer)->close();
  if (sampled) return std::vector<pid_t>{root};
  std::error_code ignored;
  std::filesystem::remove((*writer)->path(), ignored);
  return sampled.error();
}

Result<std::vector<pid_t>> record_by_kineto(const AttachOptions& options, const std::string& folder,
                                            cap::FabricServer& server, const Messages& messages) {
  if (options.rate) {
    messages.warning(
        "--rate says how often threads are sampled; here PyTorch's profiler records instead");
  }
  messages.progress("waiting for " + titles(options.pids) + " to ask for work");
  return record_kineto({.pids = options.pids,
                        .duration = options.duration,
                        .timeout = options.timeout,
                        .with = options.with,
                        .folder = folder},
                       server, messages);
}

}  // namespace

Result<AttachOutcome> record_attached(const AttachOptions& options, const Messages& messages) {
  const Result<void> there = check_there(options.pids);
  if (!there) return there.error();
  const pid_t first = options.pids.front();
  const bool from_outside = nobody_asks(cap::kineto_targets(options.pids));
  if (from_outside && options.pids.size() > 1) {
    return not_possible(
        "none of these processes was started with KINETO_USE_DAEMON=1, so PyTorch cannot be asked "
        "for traces; name one, whose threads are sampled with those of the processes below it");
  }
  std::unique_ptr<cap::FabricServer> server;
  if (!from_outside) {
    for (const pid_t pid : options.pids) {
      Result<void> reachable = check_reachable(pid);
      if (!reachable) return std::move(reachable).error();
    }
    Result<std::unique_ptr<cap::FabricServer>> opened = open_server(first);
    if (!opened) return std::move(opened).error();
    server = std::move(*opened);
  }
  const std::string name =
      options.name.empty() ? cap::name_of(cap::read_command(first)) : options.name;
  const Result<cap::SessionFolder> folder = cap::make_session_folder(options.output, name);
  if (!folder) return folder.error();
  if (!(*folder).warning.empty()) messages.warning((*folder).warning);
  cap::Manifest manifest = conditions(options, name);
  Result<std::vector<pid_t>> recorded =
      from_outside ? record_from_outside(options, (*folder).absolute, manifest, messages)
                   : record_by_kineto(options, (*folder).absolute, *server, messages);
  if (!recorded) {
    std::error_code ignored;
    std::filesystem::remove((*folder).absolute, ignored);  // Only where nothing is in it.
    return std::move(recorded).error().in("attach");
  }
  manifest.ended_unix = unix_ns();
  const Result<void> written = cap::write_manifest((*folder).absolute, manifest);
  if (!written) return written.error();
  messages.progress("recorded " + std::to_string((*recorded).size()) +
                    ((*recorded).size() == 1 ? " process" : " processes") + " into " +
                    (*folder).path);
  return AttachOutcome{.folder = (*folder).path, .recorded = std::move(*recorded)};
}

}  // namespace fathom::record
