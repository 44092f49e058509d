// Health of the links: does each device activity have its host call, and each launching call its
// activity?
#include <utility>

#include "analysis/health/checks.h"

namespace fathom {
namespace {

constexpr std::string_view kSection = "links";

void check_sides(const HealthInput& input, Health& health) {
  const std::uint64_t activities = input.tally.activities();
  const std::uint64_t launching = input.tally.launching_calls;
  const bool no_activities = launching != 0 && activities == 0;
  add_check(health, kSection, "device_activity_missing",
            "launching calls, but no device activity was recorded",
            launching == 0 && activities == 0 ? CheckStatus::not_applicable
            : no_activities                   ? CheckStatus::bad
                                              : CheckStatus::ok,
            no_activities ? launching : 0,
            {"the device was not traced", "every device number",
             "record with ProfilerActivity.CUDA; look for CUPTI errors in the program's output"});

  const bool no_calls = activities != 0 && input.tally.calls() == 0;
  add_check(
      health, kSection, "runtime_calls_missing",
      "device activities, but no runtime call was recorded",
      activities == 0 ? CheckStatus::not_applicable
      : no_calls      ? CheckStatus::bad
                      : CheckStatus::ok,
      no_calls ? activities : 0,
      {"host attribution is impossible", "launches, syncs, device columns of ops, idle causes",
       "record with ProfilerActivity.CPU and CUDA together"});
}

void check_orphans(const HealthInput& input, Health& health) {
  const Links& links = input.context.links();
  add_share(health, kSection, "activities_without_launch", "device activities have no launch",
            links.without_launch, input.tally.activities(), {},
            {"host attribution is incomplete",
             "device columns of ops, modules, stacks; launches; edge steps",
             "their calls lie before the recording or were dropped: see (unattributed) in ops"})
      .example = example_of(input.trace(), links.first_without_launch);
}

/// Calls that start something on the device but have no activity; fills apart, since a fill of zero
/// bytes starts nothing.
struct Unanswered {
  std::uint64_t fills = 0;
  SliceId first;  ///< The first that is not a fill, else the first.
};
Unanswered find_unanswered(const HealthInput& input) {
  const Trace& trace = input.trace();
  const Links& links = input.context.links();
  Unanswered found;
  found.first = links.first_launch_without_activity;
  if (links.launches_without_activity == 0) return found;
  const std::vector<bool> answered = answered_calls(trace, links);
  bool serious = false;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceKind kind = trace.kind(SliceId(row));
    if (answered[row] || !is_runtime_call(kind)) continue;
    const CallKind call = links.call_kind(trace, SliceId(row));
    if (call == CallKind::fill || call == CallKind::fill_blocking) {
      ++found.fills;
    } else if (starts_activity(call) && !std::exchange(serious, true)) {
      found.first = SliceId(row);
    }
  }
  return found;
}

/// A device that was not traced has a check of its own.
void check_unanswered(const HealthInput& input, Health& health) {
  const std::uint64_t missing = input.context.links().launches_without_activity;
  const std::uint64_t launching = input.tally.activities() == 0 ? 0 : input.tally.launching_calls;
  const Unanswered found = launching == 0 ? Unanswered{} : find_unanswered(input);
  const bool only_fills = found.fills >= missing;
  HealthWords words{"device work is missing from the trace",
                    "device times, utilisation, idle time, queue depth",
                    "synchronise before the recording ends; check for dropped records"};
  if (only_fills) words = {"all are fills, and a fill of zero bytes starts nothing", "", ""};
  add_share(health, kSection, "launches_without_activity",
            "launching calls have no device activity", missing, launching,
            only_fills ? Limits{kNever, kNever} : Limits{}, std::move(words))
      .example = example_of(input.trace(), found.first);
}

void check_order(const HealthInput& input, Health& health) {
  const Trace& trace = input.trace();
  const Links& links = input.context.links();
  std::uint64_t linked = 0;
  std::uint64_t early = 0;
  SliceId first;
  for (const SliceId activity : links.activities) {
    const SliceId launch = links.launch[activity.row()];
    if (!launch.valid()) continue;
    ++linked;
    if (trace.slices.start[activity.row()] >= trace.slices.start[launch.row()]) continue;
    if (early++ == 0) first = activity;
  }
  add_share(health, kSection, "activities_before_launch",
            "device activities start before their launch call", early, linked, {0.001, 0.05},
            {"host and device clocks disagree", "launch delay, idle causes, step windows",
             "the recorder's clock conversion is off; compare with a newer driver or recorder"})
      .example = example_of(trace, first);
}

void check_graphs(const HealthInput& input, Health& health) {
  const Trace& trace = input.trace();
  const Links& links = input.context.links();
  std::uint64_t in_graph = 0;
  std::uint64_t without_node = 0;
  SliceId first;
  if (input.tally.graph_launches != 0) {
    for (const SliceId activity : links.activities) {
      if (links.replay[activity.row()] == 0 || trace.kind(activity) != SliceKind::kernel) continue;
      ++in_graph;
      const std::uint32_t detail = trace.slices.detail[activity.row()];
      if (detail != SliceId::kNone && trace.kernels.graph_node[detail] != kAbsent) continue;
      if (without_node++ == 0) first = activity;
    }
  }
  add_share(health, kSection, "graph_kernels_without_node",
            "kernels of graph replays carry no graph node id", without_node, in_graph,
            {kNever, kNever},
            {"kernels of a replay are known by order only", "attribution inside graphs",
             "a newer CUPTI (CUDA 12.4 on) records node ids"})
      .example = example_of(trace, first);
}

}  // namespace

void check_links(const HealthInput& input, Health& health) {
  check_sides(input, health);
  check_orphans(input, health);
  check_unanswered(input, health);
  check_order(input, health);
  check_graphs(input, health);
}

}  // namespace fathom
