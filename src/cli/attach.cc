// fathom attach: profiles a running PyTorch program for a moment, then diagnoses it.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "capture/amounts.h"
#include "capture/fabric.h"
#include "capture/files.h"
#include "capture/manifest.h"
#include "capture/proc.h"
#include "capture/redact.h"
#include "capture/session_folder.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/run_show.h"
#include "cli/selection_options.h"
#include "cli/version.h"

namespace fathom::cli {
namespace {

namespace cap = fathom::capture;
using Steady = std::chrono::steady_clock;

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

/// Serving is interrupted so often, to look at the program and at its trace.
constexpr Duration kSlice = std::chrono::milliseconds(100);
/// A file that has not grown for so many slices, and ends as JSON does, is complete.
constexpr int kQuietSlices = 4;
constexpr Duration kWarmup = std::chrono::seconds(1);

Error not_possible(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

/// "process 123 (python train.py)".
std::string named(pid_t pid) {
  std::string text;
  for (const std::string& word : cap::redact_command(cap::read_command(pid)))
    text += (text.empty() ? "" : " ") + word;
  return "process " + std::to_string(pid) + (text.empty() ? "" : " (" + text.substr(0, 100) + ")");
}

Result<pid_t> pid_of(const std::vector<std::string>& operands) {
  if (operands.size() > 1) return not_possible("one process at a time");
  pid_t pid = 0;
  const Options::Parse parse = number_into<pid_t>(pid, 1);
  const Result<void> parsed = parse(operands.front());
  if (!parsed) return parsed.error();
  if (kill(pid, 0) != 0 && errno == ESRCH)
    return not_possible("there is no process " + std::to_string(pid));
  return pid;
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

/// What libkineto is to do, in its own words.
std::string configuration(const Wish& wish, const std::string& file) {
  const auto asked = [&](const char* extra) {
    return std::ranges::find(wish.with, extra) != wish.with.end() ? "true" : "false";
  };
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(wish.duration).count();
  const auto warmup = std::chrono::duration_cast<std::chrono::seconds>(kWarmup).count();
  return "PROFILE_START_TIME=0\nACTIVITIES_LOG_FILE=" + file +
         "\nACTIVITIES_DURATION_MSECS=" + std::to_string(ms) +
         "\nACTIVITIES_WARMUP_PERIOD_SECS=" + std::to_string(warmup) +
         "\nPROFILE_REPORT_INPUT_SHAPES=" + asked("shapes") +
         "\nPROFILE_PROFILE_MEMORY=" + asked("memory") + "\nPROFILE_WITH_STACK=" + asked("stacks") +
         "\nPROFILE_WITH_FLOPS=" + asked("flops") + "\nPROFILE_WITH_MODULES=false\n";
}

/// A trace that is being written.
class Awaited {
 public:
  explicit Awaited(std::string path) : path_(std::move(path)) {}

  /// True once the file is complete.
  bool ready() {
    std::error_code failure;
    const auto size = std::filesystem::file_size(path_, failure);
    if (failure || size == 0) return false;
    quiet_ = size == size_ ? quiet_ + 1 : 0;
    size_ = size;
    return quiet_ >= kQuietSlices && ends_as_json();
  }

 private:
  [[nodiscard]] bool ends_as_json() const {
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    std::array<char, 64> tail{};
    const auto from = static_cast<off_t>(size_ > tail.size() ? size_ - tail.size() : 0);
    const ssize_t got = pread(file, tail.data(), tail.size(), from);
    ::close(file);
    if (got <= 0) return false;
    return cap::trimmed({tail.data(), static_cast<std::size_t>(got)}).ends_with('}');
  }

  std::string path_;
  std::uintmax_t size_ = 0;
  int quiet_ = 0;
};

/// Where that program may write to: libkineto refuses orders to write anywhere else.
std::string trace_folder(pid_t pid) {
  std::string folder = cap::read_variable(pid, "KINETO_ONDEMAND_TRACE_DIR").value_or("");
  if (folder.empty()) folder = "/tmp";
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

/// What stands before its paths to make them ours: nothing, unless it has a root of its own.
std::string root_of(pid_t pid) {
  const std::string link = "/proc/" + std::to_string(pid);
  std::error_code failure;
  const auto theirs = std::filesystem::read_symlink(link + "/ns/mnt", failure);
  const auto ours = std::filesystem::read_symlink("/proc/self/ns/mnt", failure);
  return failure || theirs == ours ? std::string() : link + "/root";
}

/// Moves a file, also between file systems; copies what is not ours to remove.
Result<void> move_file(const std::string& from, const std::string& to) {
  std::error_code failure;
  std::filesystem::rename(from, to, failure);
  if (!failure) return {};
  std::filesystem::copy_file(from, to, failure);
  if (failure) return Error{ErrorCode::io, from + ": " + failure.message()};
  std::filesystem::remove(from, failure);
  return {};
}

/// Hands out the configuration and waits for the trace.
class Attachment {
 public:
  Attachment(const Wish& wish, pid_t pid, std::string folder)
      : wish_(wish), pid_(pid), folder_(std::move(folder)) {}

  Result<void> run(cap::FabricServer& server) {
    const Steady::time_point patience = Steady::now() + wish_.timeout;
    while (taker_ == 0) {
      server.serve(kSlice, answer());
      if (kill(pid_, 0) != 0 && errno == ESRCH)
        return not_possible("process " + std::to_string(pid_) + " ended before it asked for work");
      if (taker_ == 0 && Steady::now() > patience) return never_asked();
    }
    if (!wish_.quiet) {
      say_error(named(taker_) + " is being recorded for " +
                std::to_string(std::chrono::duration<double>(wish_.duration).count()).substr(0, 5) +
                " s");
    }
    return wait_for_trace(server);
  }

 private:
  cap::FabricServer::Answer answer() {
    return [this](const cap::FabricRequest& request) -> std::string {
      const bool meant = std::ranges::find(request.pids, pid_) != request.pids.end();
      if (std::ranges::find(others_, request.pids.front()) == others_.end())
        others_.push_back(request.pids.front());
      if (!meant || taker_ != 0 || (request.kinds & cap::kActivities) == 0) {
        busy_ = busy_ || (meant && (request.kinds & cap::kActivities) == 0);
        return "";
      }
      taker_ = request.pids.front();
      const std::string stem = trace_folder(taker_) + "/fathom-attach-" + std::to_string(taker_) +
                               "-" + std::to_string(Steady::now().time_since_epoch().count());
      file_ = stem + ".json";
      // libkineto of some versions puts the process's number into the name.
      numbered_ = stem + "_" + std::to_string(taker_) + ".json";
      root_ = root_of(taker_);
      return configuration(wish_, file_);
    };
  }

  Result<void> never_asked() const {
    std::string why;
    if (busy_) return not_possible(named(pid_) + " is being profiled by somebody else");
    const auto variable = cap::read_variable(pid_, "KINETO_USE_DAEMON");
    if (!variable) {
      why = "it was not started with KINETO_USE_DAEMON=1, without which PyTorch asks nobody";
    } else {
      why =
          "KINETO_USE_DAEMON is set, but no PyTorch that was built with the daemon's protocol has "
          "been imported there";
    }
    std::string others;
    for (const pid_t other : others_)
      others += (others.empty() ? "" : ", ") + std::to_string(other);
    return not_possible(named(pid_) + " did not ask for work: " + why +
                        (others.empty() ? "" : "; processes that did ask: " + others));
  }

  Result<void> wait_for_trace(cap::FabricServer& server) {
    // Large traces take minutes to write, but begin to grow long before.
    const Steady::time_point patience =
        Steady::now() + kWarmup + wish_.duration + std::chrono::minutes(5);
    const std::string stored = folder_ + "/torch-" + std::to_string(taker_) + "-1.pt.trace.json";
    Awaited trace(root_ + file_);
    Awaited other(root_ + numbered_);
    while (Steady::now() < patience) {
      server.serve(kSlice, answer());
      if (trace.ready()) return move_file(root_ + file_, stored);
      if (other.ready()) return move_file(root_ + numbered_, stored);
      const bool gone = kill(taker_, 0) != 0 && errno == ESRCH;
      if (gone && !std::filesystem::exists(file_) && !std::filesystem::exists(numbered_))
        return not_possible("process " + std::to_string(taker_) +
                            " ended before its trace was written");
    }
    return not_possible(named(taker_) + " took the order but has written no trace to " + file_ +
                        ": may it write there?");
  }

  const Wish& wish_;
  pid_t pid_;
  std::string folder_;
  std::string file_;
  std::string numbered_;
  std::string root_;
  pid_t taker_ = 0;
  bool busy_ = false;
  std::vector<pid_t> others_;
};

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

int run(const Wish& wish) {
  const Result<pid_t> pid = pid_of(wish.pids);
  if (!pid) return fail(Error(pid.error()).in("attach"));
  const Result<void> reachable = check_namespace(*pid);
  if (!reachable) return fail(Error(reachable.error()).in("attach"));
  Result<std::unique_ptr<cap::FabricServer>> server = open_server(*pid);
  if (!server) return fail(std::move(server).error().in("attach"));
  const std::vector<std::string> command = cap::read_command(*pid);
  const std::string name = wish.name.empty() ? cap::name_of(command) : wish.name;
  const Result<cap::SessionFolder> folder = cap::make_session_folder(wish.output, name);
  if (!folder) return fail(folder.error());
  if (!folder->warning.empty()) say_warning(folder->warning, wish.quiet);
  if (!wish.quiet) say_error("waiting for " + named(*pid) + " to ask for work");
  const cap::Manifest manifest = conditions(wish, *pid, name);
  const Result<void> attached = Attachment(wish, *pid, folder->absolute).run(**server);
  if (!attached) {
    std::error_code ignored;
    std::filesystem::remove(folder->absolute, ignored);  // Only where nothing is in it.
    return fail(Error(attached.error()).in("attach"));
  }
  const Result<void> written = cap::write_manifest(folder->absolute, manifest);
  if (!written) return fail(written.error());
  if (!wish.quiet) say_error("recorded into " + folder->path);
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
  command.operand = "PID";
  command.doc =
      "Profiles a program that was started with KINETO_USE_DAEMON=1 in its environment: PyTorch "
      "then asks a local daemon every few seconds whether to record, by the protocol of dynolog. "
      "This command is that daemon for as long as it takes: it hands out one order, waits for the "
      "trace, and prints what fathom diagnose says. Of a launcher (torchrun), the first of its "
      "processes that asks is recorded.";
  command.examples = {"fathom attach 12345 --duration 5s"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto wish = std::make_shared<Wish>();
    options.operands("PID", wish->pids, 1);
    options.parsed("--duration", "TIME", into(wish->duration, cap::parse_duration),
                   "How long to record (default 5s)");
    options.parsed("--with", "LIST", into(wish->with, cap::parse_extras),
                   "Also record these, separated by commas: shapes, stacks, memory, flops",
                   {"shapes", "stacks", "memory", "flops"});
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
