// One loop while they ask, one until each trace is complete.
#include "cli/attach_order.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

#include "capture/attach/kineto_targets.h"
#include "capture/launcher/redact.h"
#include "capture/system/files.h"
#include "capture/system/proc.h"

namespace fathom::cli {
namespace {

namespace cap = fathom::capture;
using Steady = std::chrono::steady_clock;
using Say = std::function<void(const std::string&)>;

/// Serving is interrupted so often, to look at the programs and at their traces.
constexpr Duration kSlice = std::chrono::milliseconds(100);
/// A file that has not grown for so many slices, and ends as JSON does, is complete.
constexpr int kQuietSlices = 4;
constexpr Duration kWarmup = std::chrono::seconds(1);
/// libkineto asks every five seconds, or more often: by then each has.
constexpr Duration kGather = std::chrono::seconds(7);
/// When those begin who are to begin together.
constexpr Duration kCommonStart = kGather + kWarmup + std::chrono::seconds(1);

Error not_possible(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

std::string seconds_text(Duration duration) {
  const std::string text = std::to_string(std::chrono::duration<double>(duration).count());
  return text.substr(0, text.find('.') + 3) + " s";
}

/// What libkineto is to do, in its own words. `start`: ms since 1970, 0 for at once.
std::string configuration(const AttachOrder& order, const std::string& file, std::int64_t start) {
  const auto asked = [&](const char* extra) {
    return std::ranges::find(order.with, extra) != order.with.end() ? "true" : "false";
  };
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(order.duration).count();
  const auto warmup = std::chrono::duration_cast<std::chrono::seconds>(kWarmup).count();
  return "PROFILE_START_TIME=" + std::to_string(start) + "\nACTIVITIES_LOG_FILE=" + file +
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

/// An order that a process has taken.
struct Taken {
  pid_t pid = 0;
  std::string file;      ///< As that process names it.
  std::string numbered;  ///< libkineto of some versions puts the process's number into the name.
  std::string root;
  Awaited trace;
  Awaited other;
};

Taken take(pid_t pid) {
  const std::string stem = trace_folder(pid) + "/fathom-attach-" + std::to_string(pid) + "-" +
                           std::to_string(Steady::now().time_since_epoch().count());
  const std::string file = stem + ".json";
  const std::string numbered = stem + "_" + std::to_string(pid) + ".json";
  const std::string root = root_of(pid);
  return {.pid = pid,
          .file = file,
          .numbered = numbered,
          .root = root,
          .trace = Awaited(root + file),
          .other = Awaited(root + numbered)};
}

class Attachment {
 public:
  Attachment(const AttachOrder& order, const Say& say) : order_(order), say_(say) {}

  Result<std::vector<pid_t>> run(cap::FabricServer& server) {
    for (const std::string& reason : cap::reasons_against(cap::kineto_targets(order_.pids)))
      say_(reason);
    const Steady::time_point patience = Steady::now() + order_.timeout;
    while (!settled()) {
      server.serve(kSlice, answer());
      if (taken_.empty() && std::ranges::all_of(order_.pids, is_gone))
        return not_possible("process " + std::to_string(order_.pids.front()) +
                            " ended before it asked for work");
      if (taken_.empty() && Steady::now() > patience) return never_asked();
    }
    say_recording();
    return wait_for_traces(server);
  }

 private:
  /// True once nobody else is waited for.
  [[nodiscard]] bool settled() const {
    if (taken_.empty()) return false;
    const bool all = std::ranges::all_of(
        expected_, [this](pid_t pid) { return has_taken(pid) || is_gone(pid); });
    return all || Steady::now() > gather_until_;
  }

  [[nodiscard]] bool has_taken(pid_t pid) const {
    return std::ranges::find(taken_, pid, &Taken::pid) != taken_.end();
  }

  /// Of a launcher's tree only ranks are wanted, where there are any.
  [[nodiscard]] bool is_wanted(const cap::FabricRequest& request) const {
    const bool meant = std::ranges::any_of(order_.pids, [&](pid_t pid) {
      return std::ranges::find(request.pids, pid) != request.pids.end();
    });
    const bool listed =
        expected_.empty() || std::ranges::find(expected_, request.pids.front()) != expected_.end();
    return meant && listed;
  }

  /// Whom to wait for is looked up when the first asks: by then PyTorch is loaded in it.
  void look_around() {
    if (!taken_.empty()) return;
    expected_ = cap::expected_to_ask(cap::kineto_targets(order_.pids));
    gather_until_ = Steady::now() + kGather;
    start_ = 0;
    if (expected_.size() < 2) return;
    const auto now = std::chrono::system_clock::now().time_since_epoch() + kCommonStart;
    start_ = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }

  cap::FabricServer::Answer answer() {
    return [this](const cap::FabricRequest& request) -> std::string {
      const pid_t pid = request.pids.front();
      if (std::ranges::find(others_, pid) == others_.end()) others_.push_back(pid);
      look_around();
      if (!is_wanted(request) || has_taken(pid) || closed_) return "";
      if ((request.kinds & cap::kActivities) == 0) {
        busy_ = true;
        return "";
      }
      taken_.push_back(take(pid));
      return configuration(order_, taken_.back().file, start_);
    };
  }

  void say_recording() {
    closed_ = true;
    std::string who;
    for (const Taken& each : taken_) who += (who.empty() ? "" : ", ") + named(each.pid);
    say_(who + (taken_.size() == 1 ? " is" : " are") + " being recorded for " +
         seconds_text(order_.duration));
    for (const pid_t pid : expected_) {
      if (!has_taken(pid) && !is_gone(pid))
        say_(named(pid) + " did not ask for work in time and is not recorded");
    }
  }

  [[nodiscard]] Result<std::vector<pid_t>> never_asked() const {
    const std::string who = named(order_.pids.front());
    if (busy_) return not_possible(who + " is being profiled by somebody else");
    const std::vector<std::string> reasons = cap::reasons_against(cap::kineto_targets(order_.pids));
    std::string why;
    for (const std::string& reason : reasons) why += (why.empty() ? "" : "; ") + reason;
    if (reasons.empty()) {
      why =
          "KINETO_USE_DAEMON is set and PyTorch is loaded; that PyTorch was built without the "
          "daemon's protocol, or it asks less often than every " +
          seconds_text(order_.timeout) + " (--timeout waits longer)";
    }
    std::string others;
    for (const pid_t other : others_)
      others += (others.empty() ? "" : ", ") + std::to_string(other);
    return not_possible(who + " did not ask for work: " + why +
                        (others.empty() ? "" : "; processes that did ask: " + others));
  }

  Result<std::vector<pid_t>> wait_for_traces(cap::FabricServer& server) {
    // Large traces take minutes to write, but begin to grow long before.
    const Steady::time_point patience =
        Steady::now() + kCommonStart + order_.duration + std::chrono::minutes(5);
    std::vector<pid_t> recorded;
    std::string last;
    while (!taken_.empty() && Steady::now() < patience) {
      server.serve(kSlice, answer());
      std::erase_if(taken_, [&](Taken& each) {
        const std::optional<Result<void>> done = look_at(each);
        if (!done) return false;
        if (*done) {
          recorded.push_back(each.pid);
        } else {
          last = done->error().message;
          if (taken_.size() > 1 || !recorded.empty()) say_(last);
        }
        return true;
      });
    }
    for (const Taken& each : taken_) {
      last = named(each.pid) + " took the order but has written no trace to " + each.file +
             ": may it write there?";
    }
    if (recorded.empty()) return not_possible(last);
    return recorded;
  }

  /// Nothing while it is being written.
  std::optional<Result<void>> look_at(Taken& each) const {
    const std::string stored =
        order_.folder + "/torch-" + std::to_string(each.pid) + "-1.pt.trace.json";
    if (each.trace.ready()) return move_file(each.root + each.file, stored);
    if (each.other.ready()) return move_file(each.root + each.numbered, stored);
    if (is_gone(each.pid) && !std::filesystem::exists(each.root + each.file) &&
        !std::filesystem::exists(each.root + each.numbered))
      return Result<void>(not_possible("process " + std::to_string(each.pid) +
                                       " ended before its trace was written"));
    return {};
  }

  const AttachOrder& order_;
  const Say& say_;
  std::vector<Taken> taken_;
  std::vector<pid_t> expected_;
  std::vector<pid_t> others_;
  Steady::time_point gather_until_;
  std::int64_t start_ = 0;
  bool busy_ = false;
  bool closed_ = false;
};

}  // namespace

std::string named(pid_t pid) {
  std::string text;
  for (const std::string& word : cap::redact_command(cap::read_command(pid)))
    text += (text.empty() ? "" : " ") + word;
  return "process " + std::to_string(pid) + (text.empty() ? "" : " (" + text.substr(0, 100) + ")");
}

Result<std::vector<pid_t>> attach_to(const AttachOrder& order, cap::FabricServer& server,
                                     const Say& say) {
  return Attachment(order, say).run(server);
}

}  // namespace fathom::cli
