// Chooses the part of the steps that a next diagnosis should look at.
#include "engine/diagnosis/narrow.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/accounting/groups.h"
#include "store/profiler_step.h"

namespace fathom {
namespace {

constexpr double kLeastShare = 0.05;
constexpr double kMostShare = 0.90;
/// A longer name is none that somebody copies into a command.
constexpr std::size_t kLongestName = 160;
constexpr std::string_view kModule = "nn.Module: ";

/// Time by StringId row, and of the steps as a whole.
struct NameTimes {
  std::vector<Duration> of;
  Duration whole{};
};

const Step* step_at(std::span<const Step* const> steps, Time time) {
  const auto after = std::ranges::upper_bound(steps, time, {},
                                              [](const Step* step) { return step->window.begin; });
  if (after == steps.begin()) return nullptr;
  const Step* const step = *std::prev(after);
  return time < step->window.end ? step : nullptr;
}

/// Which slices are parts of a step that a person can ask for by name.
class Parts {
 public:
  explicit Parts(const Context& context)
      : trace_(context.trace), nesting_(context.nesting()), named_(trace_.strings.size()) {
    for (std::size_t row = 0; row < named_.size(); ++row) {
      const std::string_view name = trace_.strings.view(StringId(row));
      named_[row] = !is_profiler_step(name) && !name.starts_with("autograd::engine::");
    }
  }

  /// Steps themselves are no part of a step; what autograd puts around each of its operators says
  /// no more than that operator; work of one name inside work of the same name counts once.
  [[nodiscard]] bool has(const Step& step, SliceId slice) const {
    const SliceKind kind = trace_.kind(slice);
    return (kind == SliceKind::cpu_op || kind == SliceKind::user_annotation) &&
           named_[trace_.slices.name[slice.row()].row()] && slice != step.slice &&
           is_outermost(slice);
  }

 private:
  [[nodiscard]] bool is_outermost(SliceId slice) const {
    const StringId name = trace_.slices.name[slice.row()];
    for (SliceId at = nesting_.parent[slice.row()]; at.valid(); at = nesting_.parent[at.row()]) {
      if (trace_.slices.name[at.row()] == name) return false;
    }
    return true;
  }

  const Trace& trace_;
  const Nesting& nesting_;
  std::vector<bool> named_;  // by StringId row
};

NameTimes host_times(const Context& context, std::span<const Step* const> steps) {
  const Trace& trace = context.trace;
  const Parts parts(context);
  NameTimes times{.of = std::vector<Duration>(trace.strings.size())};
  for (const Step* const step : steps) times.whole += step->window.length();
  for (const Nesting::Thread& thread : context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      const Step* const step = step_at(steps, trace.slices.start[slice.row()]);
      if (step != nullptr && parts.has(*step, slice)) {
        times.of[trace.slices.name[slice.row()].row()] += trace.slices.duration[slice.row()];
      }
    }
  }
  return times;
}

NameTimes device_times(const Context& context, std::span<const Step* const> steps,
                       std::int32_t device) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  const Column<SliceId>& parent = context.nesting().parent;
  const Parts parts(context);
  NameTimes times{.of = std::vector<Duration>(trace.strings.size())};
  for (const SliceId activity : links.activities) {
    if (trace.track(activity).device != device) continue;
    const Step* const step = step_at(steps, trace.slices.start[activity.row()]);
    if (step == nullptr) continue;
    const Duration time = trace.slices.duration[activity.row()];
    times.whole += time;
    for (SliceId at = links.op[activity.row()]; at.valid(); at = parent[at.row()]) {
      if (parts.has(*step, at)) times.of[trace.slices.name[at.row()].row()] += time;
    }
  }
  return times;
}

/// Of modules, with what is inside of them. A name that several modules have counts for all.
NameTimes module_times(const Context& context, std::span<const Step* const> steps,
                       std::int32_t device) {
  std::vector<AccountWindow> windows;
  for (const Step* const step : steps) windows.push_back({.interval = step->window, .step = step});
  const Modules& modules = context.modules();
  NameTimes times{.of = std::vector<Duration>(context.trace.strings.size())};
  std::vector<Duration> inclusive(modules.nodes.size());
  const auto groups = device >= 0 ? group_device(context, device, AccountBy::module, windows)
                                  : group_main_thread(context, AccountBy::module, windows);
  for (const AccountGroup& group : groups) {
    Duration time = group.time.total();
    for (const Duration part : group.host) time += part;
    inclusive[group.key] += time;
    times.whole += time;
  }
  for (std::size_t node = modules.nodes.size(); node-- > 1;) {
    inclusive[modules.nodes[node].parent] += inclusive[node];
    times.of[modules.nodes[node].name.row()] += inclusive[node];
  }
  return times;
}

/// Of several that take the same time, the first in the alphabet.
std::string largest_part(const Trace& trace, const NameTimes& times) {
  const auto whole = static_cast<double>(to_ns(times.whole));
  Duration most{};
  std::string_view best;
  for (std::size_t row = 0; row < times.of.size(); ++row) {
    const auto time = static_cast<double>(to_ns(times.of[row]));
    if (time <= 0 || time < kLeastShare * whole || time > kMostShare * whole) continue;
    const std::string_view name = trace.strings.view(StringId(row));
    if (times.of[row] < most || name.size() > kLongestName) continue;
    if (times.of[row] > most || name < best) best = name;
    most = times.of[row];
  }
  if (best.starts_with(kModule)) best.remove_prefix(kModule.size());
  return std::string(best);
}

}  // namespace

std::string narrower_name(const Context& context, std::span<const Step* const> steps,
                          std::int32_t device, bool by_host) {
  // Windows of several processes overlap: one process stands for the job.
  const auto other = std::ranges::find_if(
      steps, [&](const Step* step) { return step->process != steps.front()->process; });
  steps = steps.first(static_cast<std::size_t>(other - steps.begin()));
  if (context.modules().nodes.size() > 1) {
    std::string module = largest_part(context.trace, module_times(context, steps, device));
    if (!module.empty()) return module;
  }
  return largest_part(context.trace, by_host || device < 0 ? host_times(context, steps)
                                                           : device_times(context, steps, device));
}

}  // namespace fathom
