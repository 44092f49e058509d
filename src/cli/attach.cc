// fathom attach: profiles a running PyTorch program for a moment, then diagnoses it.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>

#include "capture/attach/fabric.h"
#include "capture/launcher/amounts.h"
#include "capture/launcher/manifest.h"
#include "capture/launcher/recording.h"
#include "capture/launcher/redact.h"
#include "capture/launcher/session_folder.h"
#include "capture/system/proc.h"
#include "cli/attach_order.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/run_show.h"
#include "cli/selection_options.h"
#include "cli/version.h"

namespace fathom::cli {
namespace {

namespace cap = fathom::capture;

struct Wish {
  std::vector<std::string> pids;
  std::string output;
  std::string name;
  Duration duration = std::chrono::seconds(5);
  Duration timeout = std::chrono::seconds(30);
  std::vector<std::string> with;
  bool no_diagnose = false;
  bool quiet = false;
};

Error not_possible(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<std::vector<pid_t>> pids_of(const std::vector<std::string>& operands) {
  std::vector<pid_t> pids;
  for (const std::string& operand : operands) {
    pid_t pid = 0;
    const Options::Parse parse = number_into<pid_t>(pid, 1);
    const Result<void> parsed = parse(operand);
    if (!parsed) return parsed.error();
    if (kill(pid, 0) != 0 && errno == ESRCH)
      return not_possible("there is no process " + std::to_string(pid));
    pids.push_back(pid);
  }
  return pids;
}

/// Abstract addresses are known within one network namespace only.
Result<void> check_namespace(pid_t pid) {
  std::error_code failure;
  const auto theirs =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/net", failure);
  if (failure) return {};
  const auto ours = std::filesystem::read_symlink("/proc/self/ns/net", failure);
  if (failure || theirs == ours) return {};
  return not_possible(named(pid) +
                      " is in another network namespace, where our socket is not seen: run fathom "
                      "attach inside its container");
}

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

cap::Manifest conditions(const Wish& wish, pid_t pid, const std::string& name) {
  cap::Manifest manifest;
  manifest.version = version();
  manifest.name = name;
  manifest.command = cap::redact_command(cap::read_command(pid));
  std::error_code failure;
  manifest.directory =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/cwd", failure).string();
  manifest.recording.with = wish.with;
  manifest.recording.duration = wish.duration;
  manifest.host = cap::read_host();
  manifest.cgroup = cap::read_cgroup();
  manifest.load_at_start = cap::read_load();
  manifest.started_unix = unix_ns();
  return manifest;
}

Result<std::unique_ptr<cap::FabricServer>> open_server(pid_t pid) {
  const std::string folder = cap::read_variable(pid, "KINETO_IPC_SOCKET_DIR").value_or("");
  Result<std::unique_ptr<cap::FabricServer>> server = cap::FabricServer::open(folder);
  if (server || server.error().code != ErrorCode::unsupported) return server;
  const std::int32_t owner = cap::owner_of_fabric();
  return not_possible(server.error().message + (owner > 0 ? ": " + named(owner) : std::string()) +
                      "; ask that one (dyno gputrace --pids " + std::to_string(pid) +
                      "), or stop it");
}

void say(const Wish& wish, const std::string& text) {
  if (!wish.quiet) say_error(text);
}

int run(const Wish& wish) {
  const Result<std::vector<pid_t>> pids = pids_of(wish.pids);
  if (!pids) return fail(Error(pids.error()).in("attach"));
  for (const pid_t pid : *pids) {
    const Result<void> reachable = check_namespace(pid);
    if (!reachable) return fail(Error(reachable.error()).in("attach"));
  }
  const pid_t first = pids->front();
  Result<std::unique_ptr<cap::FabricServer>> server = open_server(first);
  if (!server) return fail(std::move(server).error().in("attach"));
  const std::string name = wish.name.empty() ? cap::name_of(cap::read_command(first)) : wish.name;
  const Result<cap::SessionFolder> folder = cap::make_session_folder(wish.output, name);
  if (!folder) return fail(folder.error());
  if (!folder->warning.empty()) say_warning(folder->warning, wish.quiet);
  std::string who;
  for (const pid_t pid : *pids) who += (who.empty() ? "" : ", ") + named(pid);
  say(wish, "waiting for " + who + " to ask for work");
  cap::Manifest manifest = conditions(wish, first, name);
  const AttachOrder order{.pids = *pids,
                          .duration = wish.duration,
                          .timeout = wish.timeout,
                          .with = wish.with,
                          .folder = folder->absolute};
  const Result<std::vector<pid_t>> recorded =
      attach_to(order, **server, [&wish](const std::string& text) { say(wish, text); });
  if (!recorded) {
    std::error_code ignored;
    std::filesystem::remove(folder->absolute, ignored);  // Only where nothing is in it.
    return fail(Error(recorded.error()).in("attach"));
  }
  manifest.ended_unix = unix_ns();
  const Result<void> written = cap::write_manifest(folder->absolute, manifest);
  if (!written) return fail(written.error());
  say(wish, "recorded " + std::to_string(recorded->size()) +
                (recorded->size() == 1 ? " process" : " processes") + " into " + folder->path);
  return wish.no_diagnose ? kFine : diagnose_folder(folder->path, wish.quiet);
}

template <typename Value, typename Target>
Options::Parse into(Target& target, Result<Value> (*parse)(std::string_view)) {
  return [&target, parse](const std::string& text) -> Result<void> {
    Result<Value> value = parse(text);
    if (!value) return std::move(value).error();
    target = std::move(*value);
    return {};
  };
}

}  // namespace

Command attach() {
  Command command;
  command.name = "attach";
  command.group = "Capture";
  command.title = "Capture a running PyTorch program for a moment, then diagnose it";
  command.operand = "PID…";
  command.doc =
      "Profiles a program that was started with KINETO_USE_DAEMON=1 in its environment: PyTorch "
      "then asks a local daemon every few seconds whether to record, by the protocol of dynolog. "
      "This command is that daemon for as long as it takes: it hands out orders to the processes "
      "and "
      "to those below them, waits for their traces, gathers them in one session folder and prints "
      "what fathom diagnose says. Of a launcher (torchrun) its ranks are recorded; several "
      "processes begin at the same moment.";
  command.examples = {"fathom attach 12345 --duration 5s", "fathom attach 12345 12346",
                      "fathom attach $(pgrep -o torchrun) --with shapes"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto wish = std::make_shared<Wish>();
    options.operands("PID", wish->pids, 1);
    options.parsed("--duration", "TIME", into(wish->duration, cap::parse_duration),
                   "How long to record (default 5s)");
    options.parsed("--with", "LIST", into(wish->with, cap::parse_torch_extras),
                   "Also record these, separated by commas: shapes, stacks, memory, flops",
                   {cap::kTorchExtras.begin(), cap::kTorchExtras.end()});
    options.parsed("--timeout", "TIME", into(wish->timeout, cap::parse_duration),
                   "How long to wait until the program asks (default 30s)");
    options.group("Output");
    options.text("-o,--output", "DIR", wish->output,
                 "The session folder, new or empty (default fathom-runs/TIME-NAME)");
    options.text("--name", "NAME", wish->name, "What to call the run (default: from the command)");
    options.flag("--no-diagnose", wish->no_diagnose, "Only record");
    options.flag("-q,--quiet", wish->quiet, "No messages of ours but errors and the diagnosis");
    return [wish] { return run(*wish); };
  };
  return command;
}

}  // namespace fathom::cli
