// Checks that the processes can be reached, serves them, and writes the manifest of their session.
#include "record/attach.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>

#include "capture/attach/fabric.h"
#include "capture/launcher/manifest.h"
#include "capture/launcher/redact.h"
#include "capture/launcher/session_folder.h"
#include "capture/system/proc.h"
#include "record/kineto_recording.h"
#include "record/unix_time.h"

namespace fathom::record {
namespace {

namespace cap = fathom::capture;

Error not_possible(std::string message) {
  return {ErrorCode::invalid_argument, "attach: " + std::move(message)};
}

/// Abstract addresses are known within one network namespace only.
Result<void> check_reachable(pid_t pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH)
    return not_possible("there is no process " + std::to_string(pid));
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

}  // namespace

Result<AttachOutcome> record_attached(const AttachOptions& options, const Messages& messages) {
  for (const pid_t pid : options.pids) {
    Result<void> reachable = check_reachable(pid);
    if (!reachable) return std::move(reachable).error();
  }
  const pid_t first = options.pids.front();
  Result<std::unique_ptr<cap::FabricServer>> server = open_server(first);
  if (!server) return std::move(server).error();
  const std::string name =
      options.name.empty() ? cap::name_of(cap::read_command(first)) : options.name;
  const Result<cap::SessionFolder> folder = cap::make_session_folder(options.output, name);
  if (!folder) return folder.error();
  if (!(*folder).warning.empty()) messages.warning((*folder).warning);
  messages.progress("waiting for " + titles(options.pids) + " to ask for work");
  cap::Manifest manifest = conditions(options, name);
  Result<std::vector<pid_t>> recorded = record_kineto({.pids = options.pids,
                                                       .duration = options.duration,
                                                       .timeout = options.timeout,
                                                       .with = options.with,
                                                       .folder = (*folder).absolute},
                                                      **server, messages);
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
