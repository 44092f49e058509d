// Cuts the life of a process into parts, the specific before the general.
#include "analysis/machine/whole_run.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <utility>

#include "analysis/machine/timed_steps.h"

namespace fathom {
namespace {

/// Time that no part has taken yet: sorted, disjoint.
class Free {
 public:
  explicit Free(Interval whole) : intervals_{whole} {}

  /// Takes what is free of these stretches, and returns how long that is.
  Duration take(std::vector<Interval> wanted) {
    std::ranges::sort(wanted, {}, &Interval::begin);
    std::vector<Interval> left;
    Duration taken{};
    auto next = wanted.begin();
    for (Interval free : intervals_) {
      while (next != wanted.end() && next->end <= free.begin) ++next;
      for (auto at = next; at != wanted.end() && at->begin < free.end; ++at) {
        const Time begin = std::max(at->begin, free.begin);
        const Time end = std::min(at->end, free.end);
        if (begin >= end) continue;
        if (free.begin < begin) left.push_back({free.begin, begin});
        taken += end - begin;
        free.begin = end;
      }
      if (free.begin < free.end) left.push_back(free);
    }
    intervals_ = std::move(left);
    return taken;
  }

 private:
  std::vector<Interval> intervals_;
};

struct RecordedPhase {
  std::string_view name;  ///< As recorded.
  std::string_view part;
  std::string_view advice;
};

constexpr std::string_view kRecorder = "start and end of traces";
/// Of the recorder's phases, those that lie inside others first.
constexpr std::array kRecordedPhases = {
    RecordedPhase{"recorder", kRecorder, ""},
    RecordedPhase{
        "compilation", "compilation",
        "keep what torch.compile made (TORCHINDUCTOR_CACHE_DIR on a disk that stays, "
        "torch.compiler.save_cache_artifacts), mark dynamic shapes so that it compiles once, or "
        "compile only the block that repeats"},
    RecordedPhase{
        "checkpoint", "checkpoints",
        "save less often, or in the background: torch.distributed.checkpoint.async_save, or a "
        "thread that writes a copy on the CPU"},
    RecordedPhase{"load", "loading of files",
                  "load with mmap=True, and only the weights that are needed"},
    RecordedPhase{
        "evaluation", "validation",
        "validate less often, on fewer batches, under torch.inference_mode() with larger ones"},
};
constexpr std::string_view kImports =
    "python -X importtime shows which module it is; import what is heavy where it is used";
constexpr std::string_view kBuilding =
    "name its parts with fathom.annotate(); keep what is computed each time, make tensors on the "
    "device, begin to load data before the model is built";
constexpr std::string_view kBetween =
    "name it with fathom.annotate(): logging, metrics, waits between steps";
/// A part that takes less of the run than one in so many is not worth advice.
constexpr int kLeastShare = 10;
constexpr std::string_view kExit = "look for pools, workers and destructors that end slowly";

struct Found {
  std::vector<Interval> stretches;
  void add(Interval stretch) { stretches.push_back(stretch); }
};

}  // namespace

std::vector<const RunPart*> WholeRun::beside_steps() const {
  constexpr std::size_t kMost = 2;
  const auto recorder = std::ranges::find(parts, kRecorder, &RunPart::name);
  const Duration own = recorder == parts.end() ? Duration{} : recorder->time;
  if (steps == Duration{} || wall - own - steps <= steps) return {};
  std::vector<const RunPart*> found;
  for (const RunPart& part : parts)
    if (!part.advice.empty() && (part.time > steps || kLeastShare * part.time >= wall))
      found.push_back(&part);
  std::ranges::stable_sort(found, std::ranges::greater(), [this](const RunPart* part) {
    const bool again = std::ranges::find(kRecordedPhases, part->name, &RecordedPhase::part) !=
                       kRecordedPhases.end();
    return std::tuple(part->time > steps, again, part->time);
  });
  // Each that is larger than the steps, for which is the largest may depend on the machine's load:
  // imports take a processor, a wait does not. Else those that are it together.
  const auto larger = static_cast<std::size_t>(
      std::ranges::count_if(found, [this](const RunPart* part) { return part->time > steps; }));
  found.resize(std::min({found.size(), larger > 0 ? larger : kMost, kMost}));
  return found;
}

WholeRun whole_run(const Trace& trace, const ProcessRun& main, const Steps& steps) {
  WholeRun run;
  if (main.start_ns == kAbsent || main.end_ns == kAbsent || main.start_ns >= main.end_ns)
    return run;
  const Interval whole{time_ns(main.start_ns), time_ns(main.end_ns)};
  std::array<Found, kRecordedPhases.size()> phases;
  Found imports;
  Found late;
  Found exit;
  each_timed(trace, "phase", main.pid, [&](std::string_view name, Interval own) {
    if (name == "import") imports.add(own);
    if (name == "late import") late.add(own);
    // The interpreter takes itself down after the recorder's last word.
    if (name == "exit") exit.add({own.begin, std::max(own.end, whole.end)});
    for (std::size_t i = 0; i < kRecordedPhases.size(); ++i) {
      if (name == kRecordedPhases[i].name) phases[i].add(own);
    }
  });
  if (imports.stretches.empty()) return run;  // no recorder was inside
  run.wall = whole.length();
  Free free(whole);
  const auto part = [&](std::string_view name, std::vector<Interval> stretches,
                        std::string_view advice) {
    const std::size_t count = stretches.size();
    const Duration time = free.take(std::move(stretches));
    if (time > Duration{}) run.parts.push_back({name, time, count, advice});
    return time;
  };
  const Time imported = imports.stretches.front().end;
  part("start of Python", {{whole.begin, imports.stretches.front().begin}}, kImports);
  for (std::size_t i = 0; i < kRecordedPhases.size(); ++i) {
    part(kRecordedPhases[i].part, phases[i].stretches, kRecordedPhases[i].advice);
  }
  std::vector<Interval> stepped;
  std::vector<Interval> in_depth;
  for (const RunStep& step : recorded_run_steps(trace)) {
    stepped.push_back(step.window);
    const bool cut = step.window.begin < trace.span.begin || step.window.end > trace.span.end;
    if (!cut) in_depth.push_back(step.window);
  }
  Interval all = whole;
  if (!stepped.empty()) {
    all = stepped.front();
    for (const Interval& step : stepped) {
      all.begin = std::min(all.begin, step.begin);
      all.end = std::max(all.end, step.end);
    }
  }
  run.in_depth = Free(whole).take(std::move(in_depth));
  run.steps = part(steps.requests ? "requests" : "steps", stepped, "");
  // What is imported later, by a function that builds the model say. Between steps it is that.
  for (const Interval& own : late.stretches)
    if (stepped.empty() || own.begin < all.begin)
      imports.add({own.begin, stepped.empty() ? own.end : std::min(own.end, all.begin)});
  part("imports", imports.stretches, kImports);
  if (!stepped.empty()) {
    part("before the first step", {{imported, all.begin}}, kBuilding);
    if (steps.requests) {
      part("no request", {all}, "");
    } else {
      part("between steps", {all}, kBetween);
    }
  }
  part("exit", exit.stretches, kExit);
  part(stepped.empty() ? "the program itself" : "after the last step", {whole}, "");
  return run;
}

}  // namespace fathom
