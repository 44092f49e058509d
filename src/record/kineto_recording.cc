// Answers PyTorch programs that ask for work, then waits for each trace.
#include "record/kineto_recording.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "capture/attach/kineto_config.h"
#include "capture/attach/kineto_targets.h"
#include "capture/attach/kineto_trace.h"
#include "capture/launcher/redact.h"
#include "capture/system/proc.h"

namespace fathom::record {
namespace {

namespace cap = fathom::capture;
using Steady = std::chrono::steady_clock;

/// libkineto asks every five seconds, or more often: by then each has.
constexpr Duration kGatherTime = std::chrono::seconds(7);
/// When those begin who are to begin together.
constexpr Duration kCommonStart = kGatherTime + cap::kKinetoWarmup + std::chrono::seconds(1);
/// Large traces take minutes to write, but begin to grow long before.
constexpr Duration kWriteTime = std::chrono::minutes(5);

Error not_possible(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

bool has_ended(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

std::string seconds_text(Duration duration) {
  const std::string text = std::to_string(std::chrono::duration<double>(duration).count());
  return text.substr(0, text.find('.') + 3) + " s";
}

class KinetoRecording {
 public:
  KinetoRecording(const KinetoRequest& request, const Messages& messages)
      : request_(request), messages_(messages) {}

  Result<std::vector<pid_t>> run(cap::FabricServer& server) {
    for (const std::string& reason : cap::reasons_against(cap::kineto_targets(request_.pids)))
      messages_.progress(reason);
    const Steady::time_point deadline = Steady::now() + request_.timeout;
    while (!is_settled()) {
      server.serve(cap::kKinetoTraceInterval, answer());
      if (traces_.empty() && std::ranges::all_of(request_.pids, has_ended))
        return not_possible("process " + std::to_string(request_.pids.front()) +
                            " ended before it asked for work");
      if (traces_.empty() && Steady::now() > deadline) return nobody_asked();
    }
    closed_ = true;
    report_recorded();
    return wait_for_traces(server);
  }

 private:
  /// True once nobody else is waited for.
  [[nodiscard]] bool is_settled() const {
    if (traces_.empty()) return false;
    const bool all = std::ranges::all_of(
        expected_, [this](pid_t pid) { return is_recorded(pid) || has_ended(pid); });
    return all || Steady::now() > gather_until_;
  }

  [[nodiscard]] bool is_recorded(pid_t pid) const {
    return std::ranges::find(traces_, pid, &cap::KinetoTrace::pid) != traces_.end();
  }

  /// Of a launcher's tree only ranks are recorded, where there are any.
  [[nodiscard]] bool is_meant(const cap::FabricRequest& asking) const {
    const bool named = std::ranges::any_of(request_.pids, [&](pid_t pid) {
      return std::ranges::find(asking.pids, pid) != asking.pids.end();
    });
    const bool expected =
        expected_.empty() || std::ranges::find(expected_, asking.pids.front()) != expected_.end();
    return named && expected;
  }

  /// Whom to wait for is looked up when the first asks: by then PyTorch is loaded in it.
  void find_expected() {
    if (!traces_.empty()) return;
    expected_ = cap::expected_to_ask(cap::kineto_targets(request_.pids));
    gather_until_ = Steady::now() + kGatherTime;
    start_unix_ms_ = 0;
    if (expected_.size() < 2) return;
    const auto start = std::chrono::system_clock::now().time_since_epoch() + kCommonStart;
    start_unix_ms_ = std::chrono::duration_cast<std::chrono::milliseconds>(start).count();
  }

  cap::FabricServer::Answer answer() {
    return [this](const cap::FabricRequest& asking) -> std::string {
      const pid_t pid = asking.pids.front();
      if (std::ranges::find(asked_, pid) == asked_.end()) asked_.push_back(pid);
      find_expected();
      if (!is_meant(asking) || is_recorded(pid) || closed_) return "";
      if ((asking.kinds & cap::kActivities) == 0) {
        profiled_already_ = true;
        return "";
      }
      traces_.emplace_back(pid, std::to_string(Steady::now().time_since_epoch().count()));
      return cap::to_text({.file = traces_.back().file(),
                           .start_unix_ms = start_unix_ms_,
                           .duration = request_.duration,
                           .with = request_.with});
    };
  }

  void report_recorded() const {
    std::string who;
    for (const cap::KinetoTrace& trace : traces_)
      who += (who.empty() ? "" : ", ") + process_title(trace.pid());
    messages_.progress(who + (traces_.size() == 1 ? " is" : " are") + " being recorded for " +
                       seconds_text(request_.duration));
    for (const pid_t pid : expected_) {
      if (!is_recorded(pid) && !has_ended(pid))
        messages_.progress(process_title(pid) +
                           " did not ask for work in time and is not recorded");
    }
  }

  [[nodiscard]] Error nobody_asked() const {
    const std::string who = process_title(request_.pids.front());
    if (profiled_already_) return not_possible(who + " is being profiled by another tool");
    const std::vector<std::string> reasons =
        cap::reasons_against(cap::kineto_targets(request_.pids));
    std::string why;
    for (const std::string& reason : reasons) why += (why.empty() ? "" : "; ") + reason;
    if (reasons.empty()) {
      why =
          "KINETO_USE_DAEMON is set and PyTorch is loaded; that PyTorch was built without the "
          "daemon's protocol, or it asks less often than every " +
          seconds_text(request_.timeout) + " (--timeout waits longer)";
    }
    std::string others;
    for (const pid_t other : asked_) others += (others.empty() ? "" : ", ") + std::to_string(other);
    return not_possible(who + " did not ask for work: " + why +
                        (others.empty() ? "" : "; processes that did ask: " + others));
  }

  Result<std::vector<pid_t>> wait_for_traces(cap::FabricServer& server) {
    const Steady::time_point deadline =
        Steady::now() + kCommonStart + request_.duration + kWriteTime;
    std::vector<pid_t> recorded;
    std::string last_failure;
    while (!traces_.empty() && Steady::now() < deadline) {
      server.serve(cap::kKinetoTraceInterval, answer());
      std::erase_if(traces_, [&](cap::KinetoTrace& trace) {
        const std::optional<Result<void>> done = fetch(trace);
        if (!done) return false;
        if (*done) {
          recorded.push_back(trace.pid());
        } else {
          last_failure = done->error().message;
          if (traces_.size() > 1 || !recorded.empty()) messages_.progress(last_failure);
        }
        return true;
      });
    }
    for (const cap::KinetoTrace& trace : traces_) {
      last_failure = process_title(trace.pid()) + " took the order but has written no trace to " +
                     trace.file() + ": may it write there?";
    }
    if (recorded.empty()) return not_possible(last_failure);
    return recorded;
  }

  /// Unset while the trace is being written.
  std::optional<Result<void>> fetch(cap::KinetoTrace& trace) const {
    const std::string id = std::to_string(trace.pid());
    if (trace.is_complete())
      return trace.move_to(request_.folder + "/torch-" + id + "-1.pt.trace.json");
    if (has_ended(trace.pid()) && !trace.exists())
      return Result<void>(not_possible("process " + id + " ended before its trace was written"));
    return {};
  }

  const KinetoRequest& request_;
  const Messages& messages_;
  std::vector<cap::KinetoTrace> traces_;  ///< Of those that have taken the request.
  std::vector<pid_t> expected_;           ///< To ask for work.
  std::vector<pid_t> asked_;              ///< Everybody who did.
  Steady::time_point gather_until_;
  std::int64_t start_unix_ms_ = 0;  ///< 0: at once.
  bool profiled_already_ = false;   ///< One that is meant asks for no activities.
  bool closed_ = false;             ///< Nobody else is recorded.
};

}  // namespace

std::string process_title(pid_t pid) {
  std::string text;
  for (const std::string& word : cap::redact_command(cap::read_command(pid)))
    text += (text.empty() ? "" : " ") + word;
  return "process " + std::to_string(pid) + (text.empty() ? "" : " (" + text.substr(0, 100) + ")");
}

Result<std::vector<pid_t>> record_kineto(const KinetoRequest& request, cap::FabricServer& server,
                                         const Messages& messages) {
  return KinetoRecording(request, messages).run(server);
}

}  // namespace fathom::record
