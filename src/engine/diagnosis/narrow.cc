// Chooses the part of the steps that a next diagnosis should look at.
#include "engine/diagnosis/narrow.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/accounting/groups.h"
#include "store/column.h"
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
  Parts(const Context& context, std::span<const Step* const> steps)
      : trace_(context.trace),
        parent_(context.nesting().parent),
        named_(trace_.strings.size()),
        open_(trace_.strings.size()),
        parts_(trace_.slices.size()) {
    for (std::size_t row = 0; row < named_.size(); ++row) {
      const std::string_view name = trace_.strings.view(StringId(row));
      named_[row] = !is_profiler_step(name) && !name.starts_with("autograd::engine::");
    }
    for (const Nesting::Thread& thread : context.nesting().work) mark(thread);
    for (const Step* const step : steps) {
      if (step->slice.valid()) parts_[step->slice.row()] = false;
    }
  }

  /// Steps themselves are no part of a step; what autograd puts around each of its operators says
  /// no more than that operator; work of one name inside work of the same name counts once.
  [[nodiscard]] bool has(SliceId slice) const { return parts_[slice.row()]; }

 private:
  void mark(const Nesting::Thread& thread) {
    std::vector<SliceId> around;
    const auto close = [&] {
      --open_[name(around.back())];
      around.pop_back();
    };
    for (const SliceId slice : thread.slices) {
      while (!around.empty() && around.back() != parent_[slice.row()]) close();
      const SliceKind kind = trace_.kind(slice);
      parts_[slice.row()] = (kind == SliceKind::cpu_op || kind == SliceKind::user_annotation) &&
                            named_[name(slice)] && open_[name(slice)] == 0;
      ++open_[name(slice)];
      around.push_back(slice);
    }
    while (!around.empty()) close();
  }
  [[nodiscard]] std::size_t name(SliceId slice) const {
    return trace_.slices.name[slice.row()].row();
  }

  const Trace& trace_;
  const Column<SliceId>& parent_;
  std::vector<bool> named_;          // by StringId row
  std::vector<std::uint32_t> open_;  // by StringId row: how many are around the slice at hand
  std::vector<bool> parts_;          // by slice
};

NameTimes host_times(const Context& context, std::span<const Step* const> steps) {
  const Trace& trace = context.trace;
  const Parts parts(context, steps);
  NameTimes times{.of = std::vector<Duration>(trace.strings.size())};
  for (const Step* const step : steps) times.whole += step->window.length();
  for (const Nesting::Thread& thread : context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      if (parts.has(slice) && step_at(steps, trace.slices.start[slice.row()]) != nullptr) {
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
  NameTimes times{.of = std::vector<Duration>(trace.strings.size())};
  Column<Duration> launched;  // by slice: the time of what was launched in it
  launched.resize(trace.slices.size());
  for (const SliceId activity : links.activities) {
    if (trace.track(activity).device != device) continue;
    if (step_at(steps, trace.slices.start[activity.row()]) == nullptr) continue;
    const Duration time = trace.slices.duration[activity.row()];
    times.whole += time;
    if (const SliceId op = links.op[activity.row()]; op.valid()) launched[op.row()] += time;
  }
  const Parts parts(context, steps);
  for (const Nesting::Thread& thread : context.nesting().work) {
    for (std::size_t i = thread.slices.size(); i-- > 0;) {
      const SliceId slice = thread.slices[i];
      const Duration inside = launched[slice.row()];
      if (inside == Duration{}) continue;
      if (parts.has(slice)) times.of[trace.slices.name[slice.row()].row()] += inside;
      const SliceId parent = context.nesting().parent[slice.row()];
      if (parent.valid()) launched[parent.row()] += inside;
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
