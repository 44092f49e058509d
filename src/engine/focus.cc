#include "engine/focus.h"

#include <algorithm>
#include <map>
#include <string>

#include "engine/nearest.h"

namespace fathom {
namespace {

constexpr std::string_view kModule = "nn.Module: ";

bool can_be_focus(SliceKind kind) {
  return kind == SliceKind::cpu_op || kind == SliceKind::user_annotation ||
         kind == SliceKind::python_function || kind == SliceKind::other;
}

/// Per StringId: is it the name, or, when no name is exactly that, does it hold it?
std::vector<bool> matching_names(const Trace& trace, std::string_view name) {
  std::vector<bool> exact(trace.strings.size());
  std::vector<bool> part(trace.strings.size());
  bool any = false;
  for (std::size_t row = 0; row < exact.size(); ++row) {
    std::string_view text = trace.strings.view(StringId(row));
    if (text.starts_with(kModule)) text.remove_prefix(kModule.size());
    exact[row] = text == name;
    part[row] = text.find(name) != std::string_view::npos;
    any = any || exact[row];
  }
  return any ? exact : part;
}

/// The outermost calls, by thread, in order.
std::map<TrackId, std::vector<SliceId>> outermost_calls(const Context& context,
                                                        const std::vector<bool>& names) {
  const Trace& trace = context.trace;
  const Interval window = context.window();
  std::map<TrackId, std::vector<SliceId>> calls;
  for (const auto* const threads : {&context.nesting().work, &context.nesting().frames}) {
    for (const Nesting::Thread& thread : *threads) {
      for (const SliceId slice : thread.slices) {
        const Time start = trace.slices.start[slice.row()];
        if (!names[trace.slices.name[slice.row()].row()] || !can_be_focus(trace.kind(slice)) ||
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
  std::vector<std::string_view> names;
  for (std::size_t row = 0; row < trace.strings.size(); ++row) {
    names.push_back(trace.strings.view(StringId(row)));
  }
  const std::string_view meant = nearest(name, names);
  return {ErrorCode::invalid_argument,
          "--focus: nothing in the selected time is called '" + std::string(name) + "'" +
              (meant.empty() ? "; fathom ops and fathom modules list names"
                             : "; did you mean '" + std::string(meant) + "'?")};
}

}  // namespace

Result<std::vector<Step>> focus_steps(const Context& context, std::string_view name) {
  const Trace& trace = context.trace;
  const auto calls = outermost_calls(context, matching_names(trace, name));
  const auto most =
      std::ranges::max_element(calls, {}, [](const auto& thread) { return thread.second.size(); });
  if (most == calls.end()) return nothing_named(trace, name);
  std::vector<Step> steps;
  for (const SliceId call : most->second) {
    const Interval host{trace.slices.start[call.row()], trace.slices.end(call)};
    steps.push_back({.number = static_cast<std::int64_t>(steps.size()),
                     .pid = trace.track(call).pid,
                     .process = trace.track(call).process,
                     .slice = call,
                     .host = host,
                     .window = host});
  }
  std::ranges::stable_sort(steps, {}, [](const Step& step) { return step.host.begin; });
  extend_to_launched(context, steps);
  return steps;
}

}  // namespace fathom
