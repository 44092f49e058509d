// Finds the calls of the module, annotation, operator or phase that --focus names.
#include "engine/diagnosis/focus.h"

#include <algorithm>
#include <map>
#include <string>

#include "engine/query/nearest_name.h"

namespace fathom {
namespace {

constexpr std::string_view kModule = "nn.Module: ";

bool can_be_focus(SliceKind kind) {
  return kind == SliceKind::cpu_op || kind == SliceKind::user_annotation ||
         kind == SliceKind::python_function || kind == SliceKind::other;
}

/// The outermost calls of a thread, in order.
using Calls = std::map<TrackId, std::vector<SliceId>>;

/// When selected host work starts. The host runs ahead of the device, so that of a step is where
/// its annotation is, not where its window is.
Interval host_window(const Context& context) {
  if (!context.selection.steps) return context.window();
  Interval hosts{Time::max(), Time::min()};
  for (const Step& step : context.steps().steps) {
    if (step.number < context.selection.steps->first) continue;
    if (step.number > context.selection.steps->last) continue;
    const Interval& host = step.slice.valid() ? step.host : step.window;
    hosts = {std::min(hosts.begin, host.begin), std::max(hosts.end, host.end)};
  }
  if (!context.selection.window) return hosts;
  Context anywhere = context;
  anywhere.selection.steps.reset();
  const Interval window = anywhere.window();
  return {std::max(hosts.begin, window.begin), std::min(hosts.end, window.end)};
}

/// What a name may be, for it to be asked for.
enum class Match : std::uint8_t { whole, part, part_of_annotation };

/// Calls whose name is `name`, or has it as a part.
Calls outermost_calls(const Context& context, std::string_view name, Match match) {
  const Trace& trace = context.trace;
  std::vector<bool> names(trace.strings.size());
  for (std::size_t row = 0; row < names.size(); ++row) {
    std::string_view text = trace.strings.view(StringId(row));
    if (text.starts_with(kModule)) text.remove_prefix(kModule.size());
    names[row] = match == Match::whole ? text == name : text.find(name) != std::string_view::npos;
  }
  const Interval window = host_window(context);
  Calls calls;
  for (const auto* const threads : {&context.nesting().work, &context.nesting().frames}) {
    for (const Nesting::Thread& thread : *threads) {
      for (const SliceId slice : thread.slices) {
        const Time start = trace.slices.start[slice.row()];
        const SliceKind kind = trace.kind(slice);
        if (!names[trace.slices.name[slice.row()].row()] || !can_be_focus(kind) ||
            (match == Match::part_of_annotation && kind != SliceKind::user_annotation) ||
            start < window.begin || start >= window.end) {
          continue;
        }
        std::vector<SliceId>& of_thread = calls[thread.track];
        if (of_thread.empty() || trace.slices.end(of_thread.back()) <= start) {
          of_thread.push_back(slice);
        }
      }
    }
  }
  return calls;
}

/// The phase of that name, or `other`.
Phase phase_called(std::string_view name) {
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (name == to_string(static_cast<Phase>(i))) return static_cast<Phase>(i);
  }
  return Phase::other;
}

/// Host work of one phase: the outermost, with what is inside of it.
struct PhasePiece {
  Interval host{};
  Phase phase = Phase::other;
};

/// Those of a step that are `wanted`, or that end a stretch of it, by time.
std::vector<PhasePiece> pieces_of(const Context& context, const Step& step, Phase wanted) {
  const Trace& trace = context.trace;
  const Interval host = step.slice.valid() ? step.host : step.window;
  const auto matters = [wanted](Phase phase) {
    return phase == wanted || phase == Phase::forward || phase == Phase::backward ||
           phase == Phase::optimizer;
  };
  std::vector<PhasePiece> pieces;
  for (const Nesting::Thread& thread : context.nesting().work) {
    if (step.process.valid() && trace.tracks[thread.track.row()].process != step.process) continue;
    auto at = std::ranges::lower_bound(thread.slices, host.begin, {}, [&](SliceId slice) {
      return trace.slices.start[slice.row()];
    });
    for (; at != thread.slices.end() && trace.slices.start[at->row()] < host.end; ++at) {
      const Phase phase = context.phases()[*at];
      const SliceId parent = context.nesting().parent[at->row()];
      if (!matters(phase) || (parent.valid() && context.phases()[parent] == phase)) continue;
      const Time end = std::min(trace.slices.end(*at), host.end);
      pieces.push_back({.host = {trace.slices.start[at->row()], end}, .phase = phase});
    }
  }
  std::ranges::stable_sort(pieces, {}, [](const PhasePiece& piece) { return piece.host.begin; });
  return pieces;
}

/// A step per stretch of the phase, on whatever threads, that no other phase interrupts.
std::vector<Step> phase_steps(const Context& context, Phase phase) {
  std::vector<Step> steps;
  const Interval window = host_window(context);
  for (const Step& step : context.steps().steps) {
    bool open = false;
    for (const PhasePiece& piece : pieces_of(context, step, phase)) {
      const bool in_window = window.begin <= piece.host.begin && piece.host.begin < window.end;
      if (piece.phase == phase && in_window && !open) {
        steps.push_back({.number = static_cast<std::int64_t>(steps.size()),
                         .pid = step.pid,
                         .process = step.process,
                         .slice = step.slice,
                         .host = piece.host,
                         .window = piece.host});
      } else if (piece.phase == phase && in_window) {
        steps.back().host.end = std::max(steps.back().host.end, piece.host.end);
        steps.back().window = steps.back().host;
      }
      open = piece.phase == phase && in_window;
    }
  }
  return steps;
}

/// Moves the end of each window to the end of the last activity launched in its host span.
void extend_to_launched(const Context& context, std::vector<Step>& steps) {
  const Trace& trace = context.trace;
  for (const SliceId activity : context.links().activities) {
    const SliceId launch = context.links().launch[activity.row()];
    if (!launch.valid() || trace.track(launch).process != steps.front().process) continue;
    const Time at = trace.slices.start[launch.row()];
    const auto after =
        std::ranges::upper_bound(steps, at, {}, [](const Step& step) { return step.host.begin; });
    if (after == steps.begin()) continue;
    Step& step = *std::prev(after);
    if (at < step.host.end) step.window.end = std::max(step.window.end, trace.slices.end(activity));
  }
  for (std::size_t i = 1; i < steps.size(); ++i) {
    steps[i].window.begin = std::max(steps[i].window.begin, steps[i - 1].window.end);
    steps[i].window.end = std::max(steps[i].window.end, steps[i].window.begin);
  }
}

Error nothing_named(const Trace& trace, std::string_view name) {
  const std::string_view meant = nearest_slice_name(trace, name);
  return {ErrorCode::invalid_argument,
          "--focus: nothing in the selected time has the name '" + std::string(name) + "'" +
              (meant.empty() ? "; fathom ops and fathom modules list names"
                             : "; did you mean '" + std::string(meant) + "'?")};
}

}  // namespace

Result<std::vector<Step>> focus_steps(const Context& context, std::string_view name) {
  const Trace& trace = context.trace;
  Calls calls = outermost_calls(context, name, Match::whole);
  std::vector<Step> steps;
  const Phase phase = phase_called(name);
  if (calls.empty() && phase != Phase::other) steps = phase_steps(context, phase);
  // An operator like aten::nll_loss_forward is not what is meant by a phase.
  if (calls.empty() && steps.empty()) {
    calls = outermost_calls(context, name,
                            phase == Phase::other ? Match::part : Match::part_of_annotation);
  }
  const auto most =
      std::ranges::max_element(calls, {}, [](const auto& thread) { return thread.second.size(); });
  if (most != calls.end()) {
    for (const SliceId call : most->second) {
      const Interval host{trace.slices.start[call.row()], trace.slices.end(call)};
      steps.push_back({.number = static_cast<std::int64_t>(steps.size()),
                       .pid = trace.track(call).pid,
                       .process = trace.track(call).process,
                       .slice = call,
                       .host = host,
                       .window = host});
    }
  }
  if (steps.empty() && phase != Phase::other) {
    return Error{ErrorCode::invalid_argument,
                 "--focus: nothing in the selected time is known to be of the phase '" +
                     std::string(name) + "'; fathom accounting --group-by phase lists phases"};
  }
  if (steps.empty()) return nothing_named(trace, name);
  std::ranges::stable_sort(steps, {}, [](const Step& step) { return step.host.begin; });
  extend_to_launched(context, steps);
  return steps;
}

}  // namespace fathom
