// launches: runtime and driver calls, how soon the device followed, and how full its queue was.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/structure/enclosing_ops.h"
#include "analysis/structure/queue.h"
#include "base/digit_groups.h"
#include "reports/groups.h"
#include "reports/report.h"
#include "stats/summary.h"

namespace fathom {
namespace launches_report {
namespace {

constexpr std::string_view kGroupBy[] = {"name", "op", "stream"};

struct Group {
  std::uint32_t name = 0;
  std::uint64_t calls = 0;
  Duration total{};
  Duration max{};
  std::uint64_t activities = 0;
  std::vector<double> delays;  // ns
  Summary delay;               // of these, when all are there
  double depths = 0;
  std::uint32_t max_depth = 0;
  std::uint64_t short_kernels = 0;
  Agreed<std::int64_t> stream;
};

class Grouping {
 public:
  explicit Grouping(const Context& context)
      : trace_(context.trace), by_(context.options.group_by), ops_(trace_, context.nesting()) {}

  void add_call(SliceId call, std::uint32_t split) {
    Group& group = group_of(call, split);
    const Duration duration = trace_.slices.duration[call.row()];
    ++group.calls;
    group.total += duration;
    group.max = std::max(group.max, duration);
  }
  void add_launch(const QueuedLaunch& launch) {
    Group& group = group_of(launch.call, split_of(launch));
    const Duration delay =
        trace_.slices.start[launch.first_activity.row()] - trace_.slices.start[launch.call.row()];
    group.activities += launch.activities;
    group.delays.push_back(static_cast<double>(to_ns(delay)));
    group.depths += launch.depth;
    group.max_depth = std::max(group.max_depth, launch.depth);
    group.stream.add(trace_.track(launch.first_activity).stream);
  }
  void add_short_kernel(SliceId kernel, SliceId call) {
    const std::uint32_t split =
        by_ == "stream" ? trace_.slices.track[kernel.row()].value : op_split(call);
    ++group_of(call, split).short_kernels;
  }
  [[nodiscard]] bool by_stream() const { return by_ == "stream"; }
  [[nodiscard]] std::uint32_t op_split(SliceId call) const {
    if (by_ != "op") return 0;
    const SliceId op = ops_.of(call);
    return op.valid() ? trace_.slices.name[op.row()].value : StringId::kNone;
  }
  [[nodiscard]] std::uint32_t split_of(const QueuedLaunch& launch) const {
    return by_stream() ? trace_.slices.track[launch.first_activity.row()].value
                       : op_split(launch.call);
  }
  [[nodiscard]] std::vector<Group> take() {
    for (Group& group : groups_) group.delay = summarize(std::exchange(group.delays, {}));
    return std::move(groups_);
  }

 private:
  Group& group_of(SliceId call, std::uint32_t split) {
    const std::uint32_t name = trace_.slices.name[call.row()].value;
    const std::size_t number =
        index_.of(pair_key(by_ == "op" ? split : name, by_ == "op" ? 0 : split));
    if (number == groups_.size()) groups_.emplace_back().name = by_ == "op" ? split : name;
    return groups_[number];
  }

  const Trace& trace_;
  const std::string& by_;
  EnclosingOps ops_;
  GroupIndex index_;
  std::vector<Group> groups_;
};

using Launches = ReportRows<Group, const Context*>;

std::string_view name_of(const Group& group, const Context* context) {
  if (group.name == StringId::kNone) return "(no operator)";
  return context->trace.text(StringId(group.name));
}

std::int64_t host_mean(const Group& group) {
  return std::llround(static_cast<double>(to_ns(group.total)) / static_cast<double>(group.calls));
}

/// Unset for calls that put nothing onto a stream.
std::optional<std::int64_t> rounded(const Group& group, double ns) {
  if (group.delay.count == 0) return {};
  return std::llround(ns);
}

std::optional<double> mean_depth(const Group& group) {
  if (group.delay.count == 0) return {};
  return group.depths / static_cast<double>(group.delay.count);
}

std::optional<std::uint32_t> max_depth(const Group& group) {
  return group.delay.count == 0 ? std::nullopt : std::optional(group.max_depth);
}

constexpr Launches::Column kColumns[] = {
    {"name", ColumnKind::name, "", "Name of the runtime or driver call.", by<name_of>},
    {"calls", ColumnKind::count, "", "How often it was called.", by<&Group::calls>},
    {"host_total_ns", ColumnKind::duration_ns, "ns", "Sum of the calls' durations on the host.",
     by<&Group::total>},
    {"host_mean_ns", ColumnKind::duration_ns, "ns", "Mean duration on the host, rounded.",
     by<host_mean>},
    {"host_max_ns", ColumnKind::duration_ns, "ns", "Longest duration on the host.",
     by<&Group::max>},
    {"activities", ColumnKind::count, "", "Device activities that these calls started.",
     by<&Group::activities>},
    {"delay_median_ns", ColumnKind::duration_ns, "ns",
     "Median time from the start of a call to the start of the first activity it put onto a "
     "stream.",
     [](const Group& group) { return rounded(group, group.delay.median); }},
    {"delay_mean_ns", ColumnKind::duration_ns, "ns", "Mean of the same, rounded.",
     [](const Group& group) { return rounded(group, group.delay.mean); }, true},
    {"delay_max_ns", ColumnKind::duration_ns, "ns", "Longest of the same.",
     [](const Group& group) { return rounded(group, group.delay.max); }},
    {"queue_depth_mean", ColumnKind::real, "",
     "Mean number of activities of the stream launched but not started when the call began, its "
     "own included.",
     by<mean_depth>},
    {"queue_depth_max", ColumnKind::count, "", "Largest such number.", by<max_depth>},
    {"short_kernels", ColumnKind::count, "", "Kernels shorter than the call that launched them.",
     by<&Group::short_kernels>},
    {"stream", ColumnKind::integer, "", "Stream, where all activities agree.",
     [](const Group& group) { return shared_value(group.stream, kAbsent); }, true, "stream"},
};

/// Every call once; by stream, a call counts for each stream that it put work onto, others for
/// none.
void add_calls(const Context& context, const std::vector<QueuedLaunch>& queue, Grouping& grouping) {
  const Trace& trace = context.trace;
  const Selector selector = context.selector();
  if (grouping.by_stream()) {
    for (const QueuedLaunch& launch : queue) {
      if (selector.host(trace, launch.call))
        grouping.add_call(launch.call, grouping.split_of(launch));
    }
    return;
  }
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    if (is_runtime_call(trace.kind(id)) && selector.host(trace, id))
      grouping.add_call(id, grouping.op_split(id));
  }
}

Result<Launches> compute(const Context& context) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  const Selector selector = context.selector();
  std::vector<QueuedLaunch> queue = compute_queue(trace, links);
  const auto elsewhere = [&](const QueuedLaunch& launch) {
    return selector.device && trace.track(launch.first_activity).device != *selector.device;
  };
  std::erase_if(queue, elsewhere);
  Grouping grouping(context);
  add_calls(context, queue, grouping);
  for (const QueuedLaunch& launch : queue) {
    if (selector.host(trace, launch.call)) grouping.add_launch(launch);
  }
  for (const SliceId activity : links.activities) {
    const SliceId call = links.launch[activity.row()];
    if (!call.valid() || trace.kind(activity) != SliceKind::kernel || !selector.host(trace, call))
      continue;
    if (selector.device && trace.track(activity).device != *selector.device) continue;
    if (trace.slices.duration[activity.row()] < trace.slices.duration[call.row()]) {
      grouping.add_short_kernel(activity, call);
    }
  }
  Launches launches{.rows = grouping.take(), .shared = &context};
  if (links.without_launch != 0) {
    launches.notes.push_back(
        grouped(links.without_launch) + " of " + grouped(links.activities.size()) +
        " device activities have no launch in the trace; they take no part here.");
  }
  return launches;
}

constexpr std::string_view kImportance[] = {
    "name",           "calls",        "host_total_ns", "delay_median_ns", "queue_depth_mean",
    "short_kernels",  "host_mean_ns", "activities",    "host_max_ns",     "delay_max_ns",
    "queue_depth_max"};

constexpr Need kNeeds[] = {{StoreTable::calls}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "launches",
       .title = "Runtime and driver calls: host time, launch-to-start delay, queue depth",
       .doc = "One row per call name. A call belongs to the steps or the window in which it "
              "starts; --device "
              "narrows the columns about activities. A long delay with a deep queue means that the "
              "device is the "
              "bottleneck; a short one with a queue depth near 1 that the host is.",
       .group_by = kGroupBy,
       .sort = "-host_total_ns",
       .example = "fathom launches trace.json.gz --steps 3-7",
       .needs = kNeeds,
       .none = "No recorded call put work onto a stream of the recording.",
       .importance = kImportance});
}

}  // namespace
}  // namespace launches_report

Report launches() { return launches_report::report(); }

}  // namespace fathom
