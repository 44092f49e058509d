// Reads what a session folder has timed, and leaves out what is only recorded in depth.
#include "engine/diagnosis/session_steps.h"

#include "analysis/context.h"
#include "analysis/machine/run_usage.h"
#include "analysis/machine/timed_steps.h"
#include "engine/inputs/run_folder.h"

namespace fathom {
namespace {

std::optional<SessionSteps> steps_of(const Trace& trace) {
  const Analyses analyses(trace);
  const Steps& steps = analyses.steps();
  SessionSteps found;
  for (const RunStep& step : steps_of_run(trace, steps))
    found.ns.push_back(to_ns(step.window.length()));
  if (found.ns.empty()) return {};
  const std::int64_t pid = steps.steps.empty() ? kAbsent : steps.steps.front().pid;
  each_timed(trace, "loader.fetch", pid, [&found](std::string_view, Interval fetch) {
    found.waited_ns += to_ns(fetch.length());
  });
  return found;
}

}  // namespace

std::optional<SessionSteps> session_steps(const std::string& folder) {
  const auto recordings = find_recordings(folder);
  if (!recordings) return {};
  for (const RunRecording& recording : *recordings) {
    const Result<Trace> trace = read_run(recording, {.threads = 1});
    if (!trace) continue;
    if (std::optional<SessionSteps> found = steps_of(*trace)) return found;
  }
  return {};
}

}  // namespace fathom
