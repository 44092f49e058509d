// Chooses the steps and the device that are judged.
#include "engine/diagnosis/judged_steps.h"

#include <algorithm>

#include "rules/common/outliers.h"

namespace fathom {
namespace {

double ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

/// A device that is busy for less than this share of what the busiest one is busy for has none of
/// the steps' work: a stray copy, or a kernel that checks something.
constexpr double kHasWork = 0.1;

bool several_processes(std::span<const Step* const> steps) {
  return std::ranges::any_of(
      steps, [&](const Step* step) { return step->process != steps.front()->process; });
}

}  // namespace

std::vector<const Step*> judged_steps(const Context& context, const std::vector<Step>& focused) {
  const Interval window = context.window();
  std::vector<const Step*> steps;
  steps.reserve(focused.size());
  for (const Step& step : focused) steps.push_back(&step);
  if (focused.empty()) steps = context.steps().counted();
  std::erase_if(steps, [&](const Step* step) {
    const bool outside = step->window.begin < window.begin || step->window.end > window.end;
    return (focused.empty() && outside) || step->window.length() == Duration{};
  });
  if (!several_processes(steps)) return steps;
  const std::int32_t device = judged_device(context, steps);
  const auto is_foreign = [&](const Step* step) { return !context.steps().uses(*step, device); };
  if (!std::ranges::all_of(steps, is_foreign)) std::erase_if(steps, is_foreign);
  return steps;
}

std::int32_t judged_device(const Context& context, std::span<const Step* const> steps) {
  if (context.selection.device) return *context.selection.device;
  struct Use {
    std::int32_t device = -1;
    Duration idle{};
    Duration busy{};
    bool launched = false;  // By a process that has steps.
  };
  std::vector<Use> uses;
  Duration most{};
  for (const DeviceTimeline& timeline : context.timelines().devices) {
    Use use{.device = timeline.device};
    use.launched = std::ranges::any_of(
        steps, [&](const Step* step) { return context.steps().uses(*step, timeline.device); });
    for (const Step* const step : steps) {
      const BusyTime time = busy_time(timeline, step->window);
      use.idle += time[Busy::idle];
      use.busy += time.busy();
    }
    most = std::max(most, use.busy);
    uses.push_back(use);
  }
  // Of several processes, those that have no steps of their own are not judged by others' steps.
  if (std::ranges::any_of(uses, &Use::launched))
    std::erase_if(uses, [](const Use& use) { return !use.launched; });
  std::erase_if(uses, [most](const Use& use) { return ns(use.busy) < kHasWork * ns(most); });
  const auto worst = std::ranges::max_element(uses, {}, &Use::idle);
  return worst == uses.end() ? -1 : worst->device;
}

UsualSteps usual_steps(const Context& context) {
  UsualSteps out;
  out.counted = judged_steps(context, {});
  out.device = judged_device(context, out.counted);
  const Outliers outliers = find_outliers(out.counted);
  out.usual = out.counted;
  std::erase_if(out.usual, [&outliers](const Step* step) { return outliers.has(step); });
  // The batch is read from shapes alone.
  const CallSites sites(context);
  const Roofline roofline;
  const std::vector<SyncCall> syncs;
  const Column<Duration> self_times;
  const RuleContext rules{.context = context,
                          .accounting = context.accounting(),
                          .roofline = roofline,
                          .syncs = syncs,
                          .sites = sites,
                          .self_times = self_times,
                          .steps = out.usual,
                          .device = out.device};
  out.batch = find_batch(rules);
  return out;
}

}  // namespace fathom
