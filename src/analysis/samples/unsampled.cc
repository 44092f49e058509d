// Compares what was sampled with what the kernel counted.
#include "analysis/samples/unsampled.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "store/sample_weights.h"

namespace fathom {
namespace {

/// The kernel may count in ticks, and counts what a process does before and after its threads run.
constexpr Duration kLeast = duration_ns(50'000'000);
constexpr double kLeastPart = 0.1;

/// What the recorder's own threads used is not among the samples.
Duration of_recorder(const Trace& trace) {
  const Fact* const fact = trace.fact("samples.of_recorder_ns");
  if (fact == nullptr) return {};
  const std::string_view text = json_unquoted(fact->value);
  std::int64_t ns = 0;
  std::from_chars(text.data(), text.data() + text.size(), ns);
  return duration_ns(std::max<std::int64_t>(0, ns));
}

/// Phases have a row of their own beside their thread's: "phase 4711" is that of this thread.
std::int64_t thread_of(const Trace& trace, const Track& track) {
  const std::string_view row = trace.text(track.thread);
  const std::size_t blank = row.rfind(' ');
  if (track.tid != kAbsent || blank == std::string_view::npos) return track.tid;
  std::int64_t tid = kAbsent;
  std::from_chars(row.data() + blank + 1, row.data() + row.size(), tid);
  return tid;
}

}  // namespace

std::string StartedThreads::text() const {
  if (unseen == 0) return {};
  const auto text = [](std::uint64_t count) {
    return count_text(static_cast<std::int64_t>(count));
  };
  return text(unseen) + " of " + text(all) + (all == 1 ? " thread" : " threads") +
         " that Python started ended before they were looked at";
}

StartedThreads started_threads(const Trace& trace) {
  StartedThreads started;
  if (!waits_are_known(trace) || trace.stack_samples.empty()) return started;
  if (trace.fact("samples.left_to_torch") != nullptr) return started;
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (const StackSample& sample : trace.stack_samples) seen.emplace(sample.pid, sample.tid);
  std::vector<bool> phases;
  for (const Category& category : trace.categories)
    phases.push_back(trace.text(category.name) == "phase");
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    if (!phases[trace.slices.category[row]] || trace.name(slice) != "thread") continue;
    ++started.all;
    const Track& track = trace.track(slice);
    if (!seen.contains({track.pid, thread_of(trace, track)})) ++started.unseen;
  }
  return started;
}

Duration unsampled_time(const Trace& trace) {
  if (!waits_are_known(trace) || trace.stack_samples.empty()) return {};
  if (trace.fact("samples.left_to_torch") != nullptr) return {};
  const auto main = std::ranges::find_if(
      trace.process_runs, [&](const ProcessRun& run) { return trace.text(run.role) == "main"; });
  if (main == trace.process_runs.end() || main->user_ns == kAbsent || main->system_ns == kAbsent)
    return {};
  Duration sampled = of_recorder(trace);
  for (const StackSample& sample : trace.stack_samples) sampled += sample.on_cpu;
  const Duration counted = duration_ns(main->user_ns) + duration_ns(main->system_ns);
  const double least = std::max(static_cast<double>(to_ns(kLeast)),
                                kLeastPart * static_cast<double>(to_ns(counted)));
  const Duration missed = counted - sampled;
  return static_cast<double>(to_ns(missed)) < least ? Duration{} : missed;
}

}  // namespace fathom
