// Looks for the annotations that mark steps, from the most explicit to the least.
#include "analysis/structure/step_marks.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "store/profiler_step.h"

namespace fathom {
namespace {

constexpr std::string_view kOptimizerStep = "Optimizer.step#";

/// Annotations that libraries make by themselves: they repeat, but mark no step.
constexpr std::string_view kLibraryAnnotations[] = {kProfilerStep,
                                                    "Optimizer.",
                                                    "DistributedDataParallel.",
                                                    "enumerate(DataLoader)",
                                                    "nccl:",
                                                    "gloo:",
                                                    "c10d::",
                                                    "## Call CompiledFxGraph",
                                                    "Torch-Compiled Region",
                                                    "TorchDynamo",
                                                    "autograd::",
                                                    "FullyShardedDataParallel.",
                                                    "FSDP::",
                                                    "record_param_comms"};

bool is_annotation(SliceKind kind) {
  // Kineto of torch 1.8 wrote annotations as operators; exports without Kineto have no categories.
  return kind == SliceKind::user_annotation || kind == SliceKind::cpu_op ||
         kind == SliceKind::other;
}

/// Host slices whose name starts with `prefix`, in the order of the file.
std::vector<SliceId> named(const Trace& trace, std::string_view prefix) {
  std::vector<bool> wanted(trace.strings.size());
  bool any = false;
  for (std::size_t row = 0; row < trace.strings.size(); ++row) {
    wanted[row] = trace.text(StringId(row)).starts_with(prefix);
    any = any || wanted[row];
  }
  std::vector<SliceId> found;
  if (!any) return found;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    if (wanted[trace.slices.name[row].row()] && is_annotation(trace.kind(id))) found.push_back(id);
  }
  return found;
}

/// Sorts by process, thread and start, so that each thread's slices are one run.
void sort_by_thread(const Trace& trace, std::vector<SliceId>& slices) {
  const auto key = [&trace](SliceId id) {
    const TrackId track = trace.slices.track[id.row()];
    return std::tuple(trace.text(trace.tracks[track.row()].process), track,
                      trace.slices.start[id.row()], id);
  };
  std::ranges::sort(slices, {}, key);
}

/// Of each process, the thread with the most of these slices; sorted by process, then time.
std::vector<SliceId> busiest_threads(const Trace& trace, std::vector<SliceId> slices) {
  sort_by_thread(trace, slices);
  std::vector<SliceId> result;
  std::size_t best_begin = 0;  // in result: where this process's best thread was put
  for (std::size_t begin = 0, end = 0; begin < slices.size(); begin = end) {
    const TrackId track = trace.slices.track[slices[begin].row()];
    while (end < slices.size() && trace.slices.track[slices[end].row()] == track) ++end;
    const bool same_process =
        !result.empty() && trace.track(result.back()).process == trace.track(slices[begin]).process;
    if (!same_process) best_begin = result.size();
    if (same_process && end - begin <= result.size() - best_begin) continue;
    result.resize(best_begin);
    result.insert(result.end(), slices.begin() + static_cast<std::ptrdiff_t>(begin),
                  slices.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return result;
}

Step step_of(const Trace& trace, SliceId slice) {
  const Track& track = trace.track(slice);
  Step step;
  step.pid = track.pid;
  step.process = track.process;
  step.slice = slice;
  step.host = {trace.slices.start[slice.row()], trace.slices.end(slice)};
  return step;
}

/// Steps on these slices; one that begins inside the step before it is its copy and left out.
std::vector<Step> steps_on(const Trace& trace, const std::vector<SliceId>& slices) {
  std::vector<Step> steps;
  for (const SliceId slice : slices) {
    Step step = step_of(trace, slice);
    const bool first = steps.empty() || steps.back().process != step.process;
    if (!first && step.host.begin < steps.back().host.end) continue;
    step.number = first ? 0 : steps.back().number + 1;
    steps.push_back(step);
  }
  return steps;
}

/// vLLM asks for the state of its engine in a pass that has neither prompts nor tokens.
constexpr std::string_view kIdlePass = "_context_0(0)_generation_0(0)";

/// Steps that do nothing, as their names say.
void mark_idle(const Trace& trace, std::vector<Step>& steps) {
  for (Step& step : steps) step.empty = trace.name(step.slice).ends_with(kIdlePass);
}

/// The recorder says of a server that its steps are requests.
bool are_requests(const Trace& trace) {
  const Fact* const fact = trace.fact("step_by");
  return fact != nullptr && fact->value == "\"request\"";
}

/// Of all threads, by process and time.
void sort_by_time(const Trace& trace, std::vector<SliceId>& slices) {
  const auto key = [&trace](SliceId id) {
    return std::tuple(trace.text(trace.track(id).process), trace.slices.start[id.row()], id);
  };
  std::ranges::sort(slices, {}, key);
}

/// One that the recording cut is not whole.
void mark_cut(const Trace& trace, std::vector<Step>& steps) {
  for (Step& step : steps) {
    step.edge = step.host.begin < trace.span.begin || step.host.end > trace.span.end;
  }
}

StepMarks request_steps(const Trace& trace, std::vector<SliceId> slices) {
  StepMarks marks{
      .source = StepSource::profiler_step, .requests = true, .name = "request", .steps = {}};
  sort_by_time(trace, slices);
  marks.steps = steps_on(trace, slices);
  mark_cut(trace, marks.steps);
  return marks;
}

void number_by_name(const Trace& trace, std::vector<Step>& steps) {
  for (Step& step : steps) {
    const std::string_view digits = trace.name(step.slice).substr(kProfilerStep.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), step.number);
  }
}

StepMarks profiler_steps(const Trace& trace) {
  std::vector<SliceId> slices = named(trace, kProfilerStep);
  StepMarks marks;
  if (are_requests(trace)) {
    marks = request_steps(trace, std::move(slices));
  } else {
    marks.source = StepSource::profiler_step;
    marks.name = std::string(kProfilerSteps);
    marks.steps = steps_on(trace, busiest_threads(trace, std::move(slices)));
  }
  number_by_name(trace, marks.steps);
  return marks;
}

/// "iteration 17" and "iteration 18" repeat one thing: digits do not distinguish names.
std::string without_numbers(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) result += c;
    if (digit && !result.ends_with('#')) result += '#';
  }
  return result;
}

/// Annotations on each thread that lie in no other annotation, by thread and time.
std::vector<SliceId> top_level_annotations(const Trace& trace) {
  std::vector<SliceId> all;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (trace.kind(SliceId(row)) == SliceKind::user_annotation) all.emplace_back(row);
  }
  sort_by_thread(trace, all);
  std::vector<SliceId> top;
  TrackId thread;
  Time covered_until = Time::min();
  for (const SliceId slice : all) {
    const TrackId track = trace.slices.track[slice.row()];
    if (track != thread) covered_until = Time::min();
    thread = track;
    if (trace.slices.start[slice.row()] >= covered_until) top.push_back(slice);
    covered_until = std::max(covered_until, trace.slices.end(slice));
  }
  return top;
}

/// Do these slices of one thread fill at least half of the time they span?
bool fill_their_span(const Trace& trace, const std::vector<SliceId>& slices) {
  Duration sum{};
  for (const SliceId slice : slices) sum += trace.slices.duration[slice.row()];
  return 2 * sum >= trace.slices.end(slices.back()) - trace.slices.start[slices.front().row()];
}

/// Is one of them nearly all of the time, and a thousand times as long as is usual? Then it is what
/// was recorded, and the others are no repetitions of it.
bool one_is_all(const Trace& trace, const std::vector<SliceId>& slices) {
  constexpr int kTimesUsual = 1000;
  constexpr int kPartsLeft = 100;
  std::vector<Duration> lengths;
  Duration sum{};
  for (const SliceId slice : slices) {
    lengths.push_back(trace.slices.duration[slice.row()]);
    sum += lengths.back();
  }
  const Duration longest = std::ranges::max(lengths);
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  return kPartsLeft * (sum - longest) < sum && longest > kTimesUsual * *middle;
}

/// Do all of them lie inside one operator of their thread? Then they are parts of one call.
bool inside_one_operator(const Trace& trace, const std::vector<SliceId>& slices) {
  const TrackId track = trace.slices.track[slices.front().row()];
  const Time begin = trace.slices.start[slices.front().row()];
  const Time end = trace.slices.end(slices.back());
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (trace.slices.track[row] == track && trace.slices.start[row] <= begin &&
        trace.slices.end(SliceId(row)) >= end && trace.kind(SliceId(row)) == SliceKind::cpu_op)
      return true;
  }
  return false;
}

/// Annotations of one name that may be steps.
struct Repeated {
  std::string name;
  std::vector<SliceId> slices;
  Duration sum{};
};
/// So many are looked at more closely, the longest together first.
constexpr std::size_t kMostCandidates = 4;

StepMarks repeated_annotations(const Trace& trace) {
  std::map<std::string, std::vector<SliceId>> groups;
  for (const SliceId slice : top_level_annotations(trace)) {
    const std::string_view name = trace.name(slice);
    if (!is_library_annotation(name)) groups[without_numbers(name)].push_back(slice);
  }
  std::vector<Repeated> candidates;
  for (auto& [name, slices] : groups) {
    std::vector<SliceId> chosen = busiest_threads(trace, std::move(slices));
    Duration sum{};
    for (const SliceId slice : chosen) sum += trace.slices.duration[slice.row()];
    if (chosen.size() < 2 || sum == Duration{} || !fill_their_span(trace, chosen)) continue;
    if (!one_is_all(trace, chosen))
      candidates.push_back({.name = name, .slices = std::move(chosen), .sum = sum});
  }
  std::ranges::stable_sort(candidates, std::ranges::greater(), &Repeated::sum);
  if (candidates.size() > kMostCandidates) candidates.resize(kMostCandidates);
  for (const Repeated& repeated : candidates) {
    if (inside_one_operator(trace, repeated.slices)) continue;
    StepMarks marks{.source = StepSource::annotation, .name = repeated.name, .steps = {}};
    marks.steps = steps_on(trace, repeated.slices);
    mark_idle(trace, marks.steps);
    return marks;
  }
  return {};
}

/// The first start of host work of each process (by the row of its name), for the steps that end
/// with their process's first optimizer step.
std::unordered_map<std::size_t, Time> first_work(const Trace& trace) {
  std::vector<Time> of_track(trace.tracks.size(), Time::max());
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (!is_host_work(trace.kind(SliceId(row)))) continue;
    Time& first = of_track[trace.slices.track[row].row()];
    first = std::min(first, trace.slices.start[row]);
  }
  std::unordered_map<std::size_t, Time> of_process;
  for (std::size_t track = 0; track < trace.tracks.size(); ++track) {
    const auto at = of_process.try_emplace(trace.tracks[track].process.row(), Time::max()).first;
    at->second = std::min(at->second, of_track[track]);
  }
  return of_process;
}

StepMarks optimizer_steps(const Trace& trace) {
  std::map<std::string_view, std::vector<SliceId>> by_name;
  for (const SliceId slice : named(trace, kOptimizerStep))
    by_name[trace.name(slice)].push_back(slice);
  const auto most =
      std::ranges::max_element(by_name, {}, [](const auto& entry) { return entry.second.size(); });
  if (most == by_name.end() || most->second.size() < 2) return {};
  StepMarks marks{.source = StepSource::optimizer, .name = std::string(most->first), .steps = {}};
  marks.steps = steps_on(trace, busiest_threads(trace, most->second));
  const std::unordered_map<std::size_t, Time> begins = first_work(trace);
  for (std::size_t i = 0; i < marks.steps.size(); ++i) {
    Step& step = marks.steps[i];
    const bool first = i == 0 || marks.steps[i - 1].process != step.process;
    step.host.begin = first ? begins.at(step.process.row()) : marks.steps[i - 1].host.end;
    step.edge = first;
  }
  return marks;
}

/// What an annotation around the first work does before it belongs to the step, too: else the
/// annotation would begin outside of it. `name`: of the first to begin.
void begin_with_annotations(const Trace& trace, Interval& span, std::string& name) {
  const Time first = span.begin;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    if (trace.kind(id) != SliceKind::user_annotation || trace.slices.start[row] >= span.begin ||
        trace.slices.end(id) <= first)
      continue;
    span.begin = trace.slices.start[row];
    name = trace.name(id);
  }
}

bool has_activity(const Trace& trace) {
  return std::ranges::any_of(trace.categories, [](const Category& category) {
    return is_device_activity(category.kind) && category.slices > 0;
  });
}

/// Where no device did anything, the profiler's own wait for it at the end is no part of the step.
StepMarks whole_trace(const Trace& trace) {
  Interval span{Time::max(), Time::min()};
  const bool waits_for_nothing = !has_activity(trace);
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    const SliceKind kind = trace.kind(id);
    const bool call = is_runtime_call(kind);
    if (call && waits_for_nothing && trace.name(id).ends_with("DeviceSynchronize")) continue;
    const bool counts =
        kind == SliceKind::cpu_op || is_runtime_call(kind) || is_device_activity(kind);
    if (!counts) continue;
    span.begin = std::min(span.begin, trace.slices.start[row]);
    span.end = std::max(span.end, trace.slices.end(id));
  }
  StepMarks marks;
  if (span.begin <= span.end) begin_with_annotations(trace, span, marks.name);
  Step step;
  step.host = span.begin <= span.end ? span : trace.span;
  marks.steps.push_back(step);
  return marks;
}

/// Is it the only mark, and begins when all recorded work is over? Then it is none of a step: the
/// recording began inside the step before it, whose mark it does not hold.
bool only_ends_the_recording(const Trace& trace, const StepMarks& marks) {
  if (marks.steps.size() != 1 || marks.requests) return false;
  const Step& step = marks.steps.front();
  bool before = false;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    const SliceKind kind = trace.kind(id);
    const bool call = is_runtime_call(kind);
    const bool work = kind == SliceKind::cpu_op || kind == SliceKind::user_annotation || call;
    const std::string_view name = trace.name(id);
    // The profiler waits for the device when it stops.
    if (!work || is_profiler_step(name) || (call && name.ends_with("DeviceSynchronize"))) continue;
    if (trace.slices.end(id) > step.host.begin) return false;
    before = before || kind == SliceKind::cpu_op;
  }
  return before;
}

}  // namespace

bool is_library_annotation(std::string_view name) {
  return std::ranges::any_of(kLibraryAnnotations,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

StepMarks find_step_marks(const Trace& trace) {
  const auto lasts = [](const Step& step) { return step.host.length() > Duration{}; };
  for (const auto& find : {profiler_steps, repeated_annotations, optimizer_steps}) {
    StepMarks marks = find(trace);
    // Marks without any duration (damaged ones are read so) hold nothing.
    if (std::ranges::none_of(marks.steps, lasts)) continue;
    if (!only_ends_the_recording(trace, marks)) return marks;
  }
  return whole_trace(trace);
}

}  // namespace fathom
