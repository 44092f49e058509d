// Looks whether a table of the store holds anything, and says how to record what it lacks.
#include "reports/need.h"

#include <algorithm>
#include <array>
#include <string>

#include "analysis/lines/line_runs.h"
#include "analysis/machine/unrecorded.h"
#include "base/digit_groups.h"
#include "reports/only_pauses.h"

namespace fathom {
namespace {

template <SliceKind... kKinds>
bool has_slices(const Context& context) {
  return std::ranges::any_of(context.trace.categories, [](const Category& category) {
    return category.slices != 0 && ((category.kind == kKinds) || ...);
  });
}

bool has_activities(const Context& context) { return !context.timelines().devices.empty(); }
bool has_modules(const Context& context) { return context.modules().nodes.size() > 1; }

bool has_loader(const Context& context) {
  return std::ranges::any_of(context.trace.categories, [&](const Category& category) {
    return category.slices != 0 && context.trace.text(category.name).starts_with("loader.");
  });
}

bool has_ranges(const Context& context) {
  return has_slices<SliceKind::user_annotation>(context) || context.trace.instants.size() > 0;
}

bool has_counters(const Context& context) {
  return std::ranges::find(context.trace.tracks, TrackKind::counter, &Track::kind) !=
         context.trace.tracks.end();
}

bool has_functions(const Context& context) {
  return !context.trace.functions.empty() || !context.trace.function_parts.empty();
}
/// A process that was killed left a timeline alone.
bool has_lines(const Context& context) {
  return !context.trace.lines.empty() || !context.trace.line_parts.empty() ||
         LineRuns::recorded(context.trace);
}
bool has_process_runs(const Context& context) { return !context.trace.process_runs.empty(); }
bool has_stack_samples(const Context& context) { return !context.trace.stack_samples.empty(); }

bool has_work(const Context& context) {
  const bool slices = std::ranges::any_of(context.trace.categories, [](const Category& category) {
    return category.slices != 0 && category.kind != SliceKind::trace_span;
  });
  return slices && !holds_only_pauses(context);
}
bool has_operators(const Context& context) {
  return has_work(context) || context.trace.memory.size() > 0;
}
/// Pauses have stacks, too.
bool has_stacks(const Context& context) {
  return has_work(context) || holds_only_pauses(context) || has_stack_samples(context) ||
         !context.trace.functions.empty();
}

constexpr std::string_view kNoWork = "The recording holds neither operators nor steps.";

struct Known {
  StoreTable table;
  bool (*held)(const Context& context);
  std::string_view otherwise;
};

constexpr std::array<Known, 15> kKnown = {{
    {StoreTable::activities, has_activities, "The trace holds no device activity."},
    {StoreTable::kernels, has_slices<SliceKind::kernel>, "The trace holds no kernels."},
    {StoreTable::copies, has_slices<SliceKind::memcpy, SliceKind::memset>,
     "The trace holds no copies and no fills."},
    {StoreTable::calls, has_slices<SliceKind::runtime, SliceKind::driver>,
     "The trace holds no runtime and no driver calls."},
    {StoreTable::module_frames, has_modules,
     "No nn.Module frames were recorded: profile with with_stack=True to see modules."},
    {StoreTable::loader_slices, has_loader,
     "The recording holds no times of a data loader; fathom run records those of PyTorch's "
     "DataLoader."},
    {StoreTable::ranges, has_ranges,
     "No range was annotated: NVTX, torch's record_function, fathom.annotate() in Python and "
     "fathom::annotate in C++ do."},
    {StoreTable::counters, has_counters,
     "The recording holds no counters; fathom run records them."},
    {StoreTable::functions, has_functions,
     "The recording holds no profile of functions; fathom run --with functions records that of "
     "Python programs."},
    {StoreTable::lines, has_lines,
     "The recording holds no profile of lines; fathom run --with lines records those of Python "
     "programs."},
    {StoreTable::process_runs, has_process_runs,
     "No processes were recorded; fathom run records them."},
    {StoreTable::stack_samples, has_stack_samples,
     "The recording holds no samples of threads; fathom run records them where PyTorch is not in "
     "the process, with --with samples everywhere."},
    {StoreTable::work, has_work, kNoWork},
    {StoreTable::operators, has_operators, kNoWork},
    {StoreTable::stacks, has_stacks,
     "The recording holds no stacks: neither operators, nor samples of threads, nor a profile of "
     "functions."},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kKnown.size(); ++i) {
    if (kKnown[i].table != static_cast<StoreTable>(i)) return false;
  }
  return kKnown.back().table == StoreTable::stacks;
}
static_assert(in_order(), "one entry for each StoreTable");

template <SliceKind... kKinds>
std::uint64_t count_slices(const Context& context) {
  std::uint64_t count = 0;
  for (const Category& category : context.trace.categories) {
    if (((category.kind == kKinds) || ...)) count += category.slices;
  }
  return count;
}

/// "1 kernel", "2 kernels": nothing where there are none.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return grouped(count) + ' ' + std::string(count == 1 ? one : many);
}

/// Why nothing of a device, or of the calls that give it work, is there: "" where nothing shows it.
std::string reason(const Context& context, StoreTable table) {
  const std::uint64_t kernels = count_slices<SliceKind::kernel>(context);
  const std::uint64_t copies = count_slices<SliceKind::memcpy, SliceKind::memset>(context);
  const std::uint64_t calls = count_slices<SliceKind::runtime, SliceKind::driver>(context);
  const bool device = kernels + copies > 0;
  if (table == StoreTable::calls && device)
    return " Only the device's side was recorded: " +
           counted(kernels + copies, "activity.", "activities.");
  if (table == StoreTable::kernels && copies > 0)
    return " Of the device it holds " + counted(copies, "copy or fill.", "copies and fills.");
  if (table == StoreTable::copies && kernels > 0)
    return " Of the device it holds " + counted(kernels, "kernel.", "kernels.");
  if (calls > 0)
    return " It holds " +
           counted(calls, "call of the runtime or driver", "calls of the runtime or driver") +
           ", but nothing that a device did: it had nothing to do, or its activities were not "
           "recorded (ProfilerActivity.CUDA, and no other profiler at work).";
  if (count_slices<SliceKind::cpu_op, SliceKind::user_annotation, SliceKind::python_function>(
          context) == 0)
    return {};
  return " Only the host was recorded: the program used no GPU, or was profiled without "
         "ProfilerActivity.CUDA.";
}

/// What a recording without work has instead, and which report shows it: "" where it has nothing.
std::string_view shown_elsewhere(const Context& context) {
  if (has_stack_samples(context)) return " It holds samples of threads: see fathom hot.";
  if (has_functions(context)) return " It holds a profile of functions: see fathom functions.";
  if (has_lines(context)) return " It holds a profile of lines: see fathom lines.";
  if (has_counters(context)) return " It holds counters: see fathom telemetry.";
  return {};
}

/// What recorders call a table where they could not record it: "" where they do not.
std::string_view word_of(StoreTable table) {
  if (table == StoreTable::functions) return "functions";
  return table == StoreTable::lines ? "lines" : "";
}

/// The sentence for a profile that was asked for in vain; "" where none was.
std::string failed(const Context& context, StoreTable table) {
  const std::string_view word = word_of(table);
  if (word.empty()) return {};
  for (const Unrecorded& lost : unrecorded(context.trace)) {
    if (lost.what != word) continue;
    return "The recording holds no profile of " + lost.what + ": " + lost.why +
           (lost.remedy.empty() ? "" : "; " + lost.remedy) + ".";
  }
  return {};
}

bool is_of_device(StoreTable table) {
  return table == StoreTable::activities || table == StoreTable::kernels ||
         table == StoreTable::copies || table == StoreTable::calls;
}

}  // namespace

std::optional<std::string> missing(const Context& context, const Need& need) {
  const Known& known = kKnown[static_cast<std::size_t>(need.table)];
  if (known.held(context)) return {};
  if (!need.otherwise.empty()) return std::string(need.otherwise);
  const bool work = need.table == StoreTable::work || need.table == StoreTable::operators;
  if (work && holds_only_pauses(context)) return std::string(kOnlyPauses);
  if (std::string why = failed(context, need.table); !why.empty()) return why;
  std::string text(known.otherwise);
  if (is_of_device(need.table)) text += reason(context, need.table);
  if (work) text += shown_elsewhere(context);
  return text;
}

}  // namespace fathom
