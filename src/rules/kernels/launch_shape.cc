// launch-shape: grids and blocks that do not fill the device.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/devices/launch_waste.h"
#include "analysis/kernels/occupancy.h"
#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace launch_shape_rule {
namespace {

constexpr std::string_view kDoc =
    "A kernel whose grid has fewer blocks than the device has multiprocessors leaves some idle; "
    "one whose last wave of blocks is only partly full waits for that wave (tail effect); a block "
    "whose size is no multiple of the warp wastes lanes. Fires for kernels that take at least 3 % "
    "of the step, with the share of the device that idles: (SMs - blocks) / SMs for a small grid; "
    "the empty part of the last wave, of all waves, where that is at least 20 %. Communication, "
    "and "
    "the last waves of GEMMs and convolutions, whose tiles a library chose, do not count; nor "
    "do launches beside which another kernel runs for most of their time, since that uses what "
    "they leave. "
    "Source: Nsight Compute's rule LaunchConfiguration, which takes every partial wave for empty.";

constexpr double kLeastPercent = 3.0;
constexpr double kLeastTail = 0.2;
constexpr std::size_t kMostFindings = 3;

/// What a launch wastes, and how.
struct Waste {
  enum class Kind : std::uint8_t { none, small_grid, tail, ragged_block } kind = Kind::none;
  double share = 0;  // Of the kernel's time.
};

Waste waste_of(const LaunchConfig& config, const Device& device) {
  const LaunchWaste waste = launch_waste(config, &device);
  if (waste.small_grid.value_or(0) > 0) {
    return {.kind = Waste::Kind::small_grid, .share = *waste.small_grid};
  }
  if (waste.tail.value_or(0) >= kLeastTail)
    return {.kind = Waste::Kind::tail, .share = *waste.tail};
  if (waste.ragged_block.value_or(0) > 0) {
    return {.kind = Waste::Kind::ragged_block, .share = *waste.ragged_block};
  }
  return {};
}

std::string_view words(Waste::Kind kind) {
  switch (kind) {
    case Waste::Kind::small_grid:
      return "fewer blocks than the device has multiprocessors";
    case Waste::Kind::tail:
      return "a tail effect (partial last wave)";
    case Waste::Kind::ragged_block:
      return "a block size that is no multiple of the warp";
    case Waste::Kind::none:
      break;
  }
  return "";
}

/// Part of the finding's id.
std::string_view id_of(Waste::Kind kind) {
  constexpr std::string_view kIds[] = {"", "small-grid", "tail", "ragged-block"};
  return kIds[static_cast<std::size_t>(kind)];
}

/// Launches of one kernel that waste in one way.
struct Group {
  Blamed blamed;
  double wasted = 0;  // ns
};
using Key = std::pair<StringId, Waste::Kind>;
struct Before {
  bool operator()(const Key& a, const Key& b) const {
    return std::pair(a.first.value, a.second) < std::pair(b.first.value, b.second);
  }
};

/// When at least two kernels run on the diagnosed device.
std::vector<Interval> shared_time(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  std::vector<Interval> shared;
  Time until = Time::min();
  for_each_activity(rules, [&](SliceId activity, SliceId) {
    if (trace.kind(activity) != SliceKind::kernel) return;
    const Interval own = interval_of(trace, activity);
    if (own.begin < until) shared.push_back({own.begin, std::min(own.end, until)});
    until = std::max(until, own.end);
  });
  return merged(std::move(shared));
}

/// Does another kernel run for most of this one's time?
bool runs_beside(const Interval& own, const std::vector<Interval>& shared) {
  auto at = std::ranges::upper_bound(shared, own.begin, {}, &Interval::end);
  Duration beside{};
  for (; at != shared.end() && at->begin < own.end; ++at)
    beside += std::min(own.end, at->end) - std::max(own.begin, at->begin);
  return 2 * beside > own.length();
}

/// Tiles of GEMMs, convolutions and attention are chosen for the problem by libraries.
bool chosen_by_library(const KernelTraits& traits) {
  return traits.kernel_class == KernelClass::gemm || traits.kernel_class == KernelClass::conv ||
         traits.kernel_class == KernelClass::attention;
}

std::string fix_text(const RuleContext& rules, const Key& key, const Group& group) {
  const KernelTraits& traits =
      rules.context.timelines().traits_of(rules.trace(), group.blamed.activities.front());
  if (key.second == Waste::Kind::ragged_block) {
    return "For a kernel of your own: a block size that is a multiple of the warp.";
  }
  const std::string more = "Give it more work per launch (a larger batch)";
  if (!chosen_by_library(traits)) return more + ", or for a kernel of your own another tile size.";
  // What PyTorch's compiler tries are GEMMs and convolutions, no kernels of attention.
  if (traits.kernel_class == KernelClass::attention) return more + "; a library chose its tiles.";
  return more + "; a library chose its tiles: torch.compile(mode=\"max-autotune\") tries others" +
         (traits.kernel_class == KernelClass::gemm ? ", split-K among them." : ".");
}

Finding describe(const RuleContext& rules, const Key& key, const Group& group) {
  const std::string name(rules.trace().text(key.first));
  Finding finding;
  finding.key = name + "/" + std::string(id_of(key.second));
  finding.title = std::string("A kernel runs with ") + std::string(words(key.second)) + ": " +
                  per_step(rules, group.blamed.time);
  finding.family = Family::latency;
  finding.weight = Weight::warning;
  finding.confidence = Confidence::low;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, group.blamed,
                  count_text(static_cast<std::int64_t>(group.blamed.activities.size())) +
                      " launches of " + name));
  finding.counter_evidence = "Other streams may use what this kernel leaves idle.";
  finding.fix.text = fix_text(rules, key, group);
  finding.verify = "fathom kernels TRACE --group-by config --columns name,grid,block,waves,total";
  const double time = static_cast<double>(to_ns(group.blamed.time));
  claim_blamed(rules, group.blamed, time > 0 ? group.wasted / time : 0.0, finding);
  finding.assumption = "the idle multiprocessors do their share";
  finding.pessimism = 0.0;
  return finding;
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const Device* const device = device_of(rules);
  if (device == nullptr || !multiprocessor_limits(*device))
    return Abstention{"the limits of the device's multiprocessors are not known"};
  std::vector<Waste> wastes;
  wastes.reserve(trace.launch_configs.size());
  for (const LaunchConfig& config : trace.launch_configs)
    wastes.push_back(waste_of(config, *device));
  std::map<Key, Group, Before> groups;
  const std::vector<Interval> shared = shared_time(rules);
  const Timelines& timelines = rules.context.timelines();
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const std::uint32_t detail = trace.slices.detail[activity.row()];
    if (trace.kind(activity) != SliceKind::kernel || detail == SliceId::kNone) return;
    if (timelines.busy_kind(trace, activity) == Busy::communication) return;
    const Waste& waste = wastes[trace.kernels.config[detail].row()];
    if (waste.kind == Waste::Kind::none) return;
    if (waste.kind == Waste::Kind::tail && chosen_by_library(timelines.traits_of(trace, activity)))
      return;
    if (waste.kind != Waste::Kind::ragged_block &&
        runs_beside(interval_of(trace, activity), shared))
      return;
    Group& group = groups[{trace.slices.name[activity.row()], waste.kind}];
    group.blamed.add(rules, activity, op);
    group.wasted +=
        waste.share * static_cast<double>(to_ns(rules.accounting.credited[activity.row()]));
  });
  struct Found {
    double wasted = 0;
    std::string name;
    Finding finding;
  };
  std::vector<Found> found;
  for (const auto& [key, group] : groups) {
    if (rules.percent(group.blamed.time) >= kLeastPercent) {
      found.push_back(
          {group.wasted, std::string(trace.text(key.first)), describe(rules, key, group)});
    }
  }
  std::ranges::stable_sort(found, [](const Found& a, const Found& b) {
    return a.wasted != b.wasted ? a.wasted > b.wasted : a.name < b.name;
  });
  if (found.size() > kMostFindings) found.resize(kMostFindings);
  std::vector<Finding> findings;
  findings.reserve(found.size());
  for (Found& each : found) findings.push_back(std::move(each.finding));
  return findings;
}

}  // namespace
}  // namespace launch_shape_rule

Rule launch_shape() {
  return {.id = "launch-shape",
          .title = "Kernels launched with a shape that wastes the device",
          .doc = launch_shape_rule::kDoc,
          .check = launch_shape_rule::check};
}

}  // namespace fathom
