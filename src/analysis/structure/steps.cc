// Step windows: where the device work of each step ends, and which steps are not whole.
#include "analysis/structure/steps.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/structure/step_marks.h"
#include "store/profiler_step.h"

namespace fathom {
namespace {

/// The steps of each process, found by the process's name.
class Processes {
 public:
  explicit Processes(std::vector<Step>& steps) {
    for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
      while (end < steps.size() && steps[end].process == steps[begin].process) ++end;
      by_process_.emplace(steps[begin].process.value, runs_.size());
      runs_.push_back(std::span(steps).subspan(begin, end - begin));
    }
  }
  [[nodiscard]] const std::vector<std::span<Step>>& runs() const { return runs_; }
  /// Empty when that process has no steps.
  [[nodiscard]] std::span<Step> of(StringId process) const {
    if (!runs_.empty() && runs_.front().front().process == process) return runs_.front();
    const auto at = by_process_.find(process.value);
    return at == by_process_.end() ? std::span<Step>() : runs_[at->second];
  }

 private:
  std::vector<std::span<Step>> runs_;
  std::unordered_map<std::uint32_t, std::size_t> by_process_;
};

/// The step in whose host span `at` lies, or nullptr.
Step* step_at(std::span<Step> steps, Time at) {
  const auto after =
      std::ranges::upper_bound(steps, at, {}, [](const Step& step) { return step.host.begin; });
  if (after == steps.begin()) return nullptr;
  Step& step = *std::prev(after);
  return at < step.host.end ? &step : nullptr;
}

/// Fathom's own range between two steps: what the program does there belongs to neither. By process
/// and time.
using Breaks = std::unordered_map<std::uint32_t, std::vector<Interval>>;

Breaks find_breaks(const Trace& trace) {
  Breaks breaks;
  const StringId name = trace.strings.find("evaluation");
  if (!name.valid()) return breaks;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    if (trace.slices.name[row] == name && trace.kind(id) == SliceKind::user_annotation)
      breaks[trace.track(id).process.value].push_back(
          {trace.slices.start[row], trace.slices.end(id)});
  }
  for (auto& [process, intervals] : breaks) std::ranges::sort(intervals, {}, &Interval::begin);
  return breaks;
}

/// Where the step begins that comes after `before` on the host: with its end, or with that of a
/// break between the two.
Time end_of_break(const Breaks& breaks, const Step& before, const Step& step) {
  const auto of_process = breaks.find(step.process.value);
  if (of_process == breaks.end()) return before.window.end;
  const std::vector<Interval>& all = of_process->second;
  auto at = std::ranges::lower_bound(all, before.host.end, {}, &Interval::begin);
  Time end = before.window.end;
  for (; at != all.end() && at->end <= step.host.begin; ++at) end = std::max(end, at->end);
  return end;
}

/// Sets window.end of every step to the last of: its host end, the end before it, what it launched.
void set_windows(const Trace& trace, const Links& links, const Processes& processes, bool requests,
                 std::vector<Step>& steps) {
  for (Step& step : steps) step.window = step.host;
  for (const SliceId activity : links.activities) {
    const SliceId launch = links.launch[activity.row()];
    if (!launch.valid()) continue;
    Step* const step =
        step_at(processes.of(trace.track(launch).process), trace.slices.start[launch.row()]);
    if (step != nullptr) step->window.end = std::max(step->window.end, trace.slices.end(activity));
  }
  if (requests) return;  // between them the program waits for the next
  const Breaks breaks = find_breaks(trace);
  for (const std::span<Step> run : processes.runs()) {
    for (std::size_t i = 1; i < run.size(); ++i) {
      run[i].window.begin = end_of_break(breaks, run[i - 1], run[i]);
      run[i].window.end = std::max(run[i].window.end, run[i].window.begin);
    }
  }
}

/// Marks the steps that hold part of an activity launched (at `launched`) before they began.
void mark_edges(std::span<Step> steps, Interval activity, Time launched) {
  const auto before = [&](const Step& step) { return step.window.end <= activity.begin; };
  auto at = std::ranges::partition_point(steps, before);
  for (; at != steps.end() && at->window.begin < activity.end; ++at) {
    if (launched < at->host.begin) at->edge = true;
  }
}

/// Was it launched between two of these steps, which annotations mark? The program's loop does that
/// in each round, so that the window of the next step may hold it.
bool between_annotations(const Steps& steps, std::span<const Step> run, Time launched) {
  return steps.source == StepSource::annotation && !run.empty() &&
         launched >= run.front().host.begin;
}

void find_edges(const Trace& trace, const Links& links, const Processes& processes,
                const Steps& steps) {
  for (const SliceId activity : links.activities) {
    const Interval interval{trace.slices.start[activity.row()], trace.slices.end(activity)};
    const SliceId launch = links.launch[activity.row()];
    if (launch.valid()) {
      const Time launched = trace.slices.start[launch.row()];
      const std::span<Step> run = processes.of(trace.track(launch).process);
      if (step_at(run, launched) == nullptr && !between_annotations(steps, run, launched))
        mark_edges(run, interval, launched);
      continue;
    }
    for (const std::span<Step> run : processes.runs()) {
      if (steps.uses(run.front(), trace.track(activity).device))
        mark_edges(run, interval, Time::min());
    }
  }
}

std::vector<std::pair<StringId, std::int32_t>> who_launches_where(const Trace& trace,
                                                                  const Links& links) {
  std::set<std::pair<StringId, std::int32_t>> pairs;
  std::pair<StringId, std::int32_t> last;
  for (const SliceId activity : links.activities) {
    const SliceId launch = links.launch[activity.row()];
    if (!launch.valid()) continue;
    const std::pair pair(trace.track(launch).process, trace.track(activity).device);
    if (pairs.empty() || pair != last) pairs.insert(pair);
    last = pair;
  }
  return {pairs.begin(), pairs.end()};
}

/// From where requests are counted, as the recorder says; "" where it does not.
std::string begin_of_requests(const Trace& trace) {
  const Fact* const fact = trace.fact("requests_begun_by");
  if (fact == nullptr) return {};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWays = {{
      {"\"server\"", "the server begins to answer"},
      {"\"pool\"", "a thread of a pool begins with it"},
      {"\"call\"", "the model is called"},
  }};
  std::string text;
  for (const auto& [way, begins] : kWays) {
    if (fact->value.find(way) == std::string_view::npos) continue;
    text += text.empty() ? ", from where " : " or ";
    text += begins;
  }
  return text;
}

std::string note_for(const Trace& trace, const StepMarks& marks) {
  switch (marks.source) {
    case StepSource::profiler_step:
      if (!marks.requests) return "";
      return "Each request is a step, in the thread that answered it" + begin_of_requests(trace) +
             "; of requests that overlap in time, the first is accounted for.";
    case StepSource::annotation:
      return "No ProfilerStep in the trace: each top-level annotation \"" + marks.name +
             "\" is a step.";
    case StepSource::optimizer:
      return "No ProfilerStep in the trace: a step is from the end of one " + marks.name +
             " to the end of the next.";
    case StepSource::whole_trace:
      break;
  }
  if (!marks.name.empty()) {
    return "No steps in the trace: all of it, from the begin of \"" + marks.name +
           "\" around the first operator or call to the last operator, call or device activity, is "
           "one step.";
  }
  return "No steps in the trace: all of it, from the first to the last operator, call or device "
         "activity, "
         "is one step.";
}

/// Does the slice show that the program did something: an operator, a range, or a call that put
/// work onto a device? Calls of the profiler that stops, and frames, do not.
bool shows_work(const Trace& trace, SliceId slice, const std::vector<bool>& launches) {
  switch (trace.kind(slice)) {
    case SliceKind::cpu_op:
    case SliceKind::user_annotation:
      return !is_profiler_step(trace.name(slice));
    case SliceKind::runtime:
    case SliceKind::driver:
      return launches[slice.row()];
    default:
      return false;
  }
}

/// Finds the last steps that hold nothing but their mark, where others of their process hold more.
void find_empty(const Trace& trace, const Links& links, const Processes& processes) {
  std::vector<bool> launches(trace.slices.size());
  for (const SliceId activity : links.activities) {
    const SliceId launch = links.launch[activity.row()];
    if (launch.valid()) launches[launch.row()] = true;
  }
  std::vector<bool> before(trace.strings.size());  // by the name of the process
  std::vector<bool> inside(trace.strings.size());
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (!shows_work(trace, SliceId(row), launches)) continue;
    const StringId process = trace.track(SliceId(row)).process;
    const std::span<Step> run = processes.of(process);
    if (run.size() < 2) continue;
    const bool last = trace.slices.end(SliceId(row)) > run.back().host.begin;
    (last ? inside : before)[process.row()] = true;
  }
  for (const std::span<Step> run : processes.runs()) {
    if (run.size() < 2) continue;
    const std::size_t process = run.front().process.row();
    run.back().empty = before[process] && !inside[process];
  }
}

/// The whole trace belongs to no single process: its only flaw can be an activity without a launch.
void finish_whole_trace(const Links& links, Step& step) {
  step.window = step.host;
  step.edge = links.without_launch != 0;
}

}  // namespace

std::vector<const Step*> Steps::counted() const {
  std::vector<const Step*> whole;
  for (const Step& step : steps) {
    if (!step.edge && !step.empty) whole.push_back(&step);
  }
  if (!whole.empty()) return whole;
  for (const Step& step : steps) {
    if (!step.empty) whole.push_back(&step);
  }
  return whole;
}

bool Steps::uses(const Step& step, std::int32_t device) const {
  const auto on_device = [device](const auto& pair) { return pair.second == device; };
  if (!step.process.valid() || std::ranges::none_of(devices, on_device)) return true;
  return std::ranges::binary_search(devices, std::pair(step.process, device));
}

Steps compute_steps(const Trace& trace, const Links& links) {
  StepMarks marks = find_step_marks(trace);
  Steps result;
  result.source = marks.source;
  result.requests = marks.requests;
  result.note = note_for(trace, marks);
  result.name = std::move(marks.name);
  result.steps = std::move(marks.steps);
  result.devices = who_launches_where(trace, links);
  if (result.source == StepSource::whole_trace) {
    result.name.clear();
    finish_whole_trace(links, result.steps.front());
    return result;
  }
  const Processes processes(result.steps);
  set_windows(trace, links, processes, result.requests, result.steps);
  find_edges(trace, links, processes, result);
  if (result.source == StepSource::profiler_step) find_empty(trace, links, processes);
  return result;
}

}  // namespace fathom
