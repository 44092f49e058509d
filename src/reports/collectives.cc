// collectives: what ranks exchange, by kind: how often, how much, how long, and how fast.
#include "analysis/devices/collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "reports/groups.h"
#include "reports/report.h"
#include "reports/volume.h"

namespace fathom {
namespace collectives_report {
namespace {

/// The shortest of fewer may well have waited itself.
constexpr std::uint64_t kFewestCalls = 3;

/// Calls that take equally long once all ranks are there.
struct Alike {
  std::uint64_t count = 0;
  Duration total{};
  Duration min = Duration::max();

  void add(Duration duration) {
    ++count;
    total += duration;
    min = std::min(min, duration);
  }
};

/// What calls that are alike have in common: the row that they are in, name, size, process group. A
/// call of the host, and the thread that carries it out, differ in their names.
using AlikeKey = std::tuple<std::size_t, StringId, std::uint64_t, StringId>;

struct Group {
  CollectiveKind kind = CollectiveKind::other;
  Alike all;
  Duration max{};
  Volume volume;
  std::optional<Duration> transfer;
  std::optional<Duration> wait;
  Agreed<std::int32_t> device;
  Agreed<std::int64_t> stream;
  OpCounts names;
};

struct Shared {
  const Trace* trace = nullptr;
  Duration all{};  ///< Of all rows.
};
using Collectives = ReportRows<Group, Shared>;

constexpr Collectives::Column kColumns[] = {
    {"kind", ColumnKind::text, "",
     "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast or other.",
     [](const Group& group) { return to_string(group.kind); }},
    {"count", ColumnKind::count, "", "How many there were.",
     [](const Group& group) { return group.all.count; }},
    {"total_ns", ColumnKind::duration_ns, "ns", "Sum of their durations.",
     [](const Group& group) { return group.all.total; }},
    {"mean_ns", ColumnKind::duration_ns, "ns", "Mean duration, rounded.",
     [](const Group& group) { return rounded_mean(to_ns(group.all.total), group.all.count); }},
    {"min_ns", ColumnKind::duration_ns, "ns", "Shortest duration.",
     [](const Group& group) { return group.all.min; }, true},
    {"max_ns", ColumnKind::duration_ns, "ns", "Longest duration.", by<&Group::max>},
    {"percent", ColumnKind::percent, "percent", "Share of the time of all selected collectives.",
     [](const Group& group, const Shared& shared) {
       return percent_of(group.all.total, shared.all);
     }},
    {"transfer_ns", ColumnKind::duration_ns, "ns",
     "At most what they take once all ranks are there: each as long as the shortest of its name, "
     "size and process group, which may have waited itself. Counts calls of which at least three "
     "are alike. Null where there are none, and where a rank is alone.",
     by<&Group::transfer>},
    {"wait_ns", ColumnKind::duration_ns, "ns",
     "What the same calls take above that: at least so long they wait for other ranks, or the "
     "network is busy.",
     by<&Group::wait>},
    {"bytes", ColumnKind::bytes, "bytes",
     "Sum of the larger of what goes in and what comes out, where recorded.",
     [](const Group& group) { return group.volume.bytes(); }},
    {"mean_bytes", ColumnKind::bytes, "bytes", "Mean size, rounded.",
     [](const Group& group) { return group.volume.mean_bytes(); }},
    {"gb_per_s", ColumnKind::real, "GB/s",
     "Bytes over duration of those with a recorded size, in 10^9 bytes per second; waiting counts.",
     [](const Group& group) { return group.volume.gb_per_s(); }},
    {"device", ColumnKind::integer, "", "Device number, where all agree.",
     [](const Group& group) { return shared_value(group.device, -1); }},
    {"stream", ColumnKind::integer, "", "Stream number, where all agree.",
     [](const Group& group) { return shared_value(group.stream, kAbsent); }, false, "stream"},
    {"names", ColumnKind::name, "", "Kernels, or calls of the host, the most frequent first.",
     [](const Group& group, const Shared& shared) { return group.names.text(*shared.trace); },
     false, "name"},
};

constexpr std::string_view kGroupBy[] = {"kind", "size", "stream", "name"};

/// Of all devices, or where none communicates, of the host.
std::vector<SliceId> selected(const Context& context) {
  const Trace& trace = context.trace;
  const Selector selector = context.selector();
  const Timelines& timelines = context.timelines();
  std::vector<SliceId> found;
  bool on_devices = false;
  for (const SliceId activity : context.links().activities) {
    if (timelines.busy_kind(trace, activity) != Busy::communication) continue;
    on_devices = true;
    if (selector.activity(trace, activity)) found.push_back(activity);
  }
  if (on_devices || selector.device) return found;
  found = host_collectives(context);
  std::erase_if(found, [&](SliceId slice) { return !selector.host(trace, slice); });
  return found;
}

void add(const Trace& trace, const CollectiveCall& call, Group& group) {
  const std::size_t row = call.slice.row();
  const Duration duration = trace.slices.duration[row];
  group.all.add(duration);
  group.max = std::max(group.max, duration);
  group.names.add(trace.slices.name[row].value);
  const bool on_device = is_device_activity(trace.kind(call.slice));
  group.device.add(on_device ? trace.track(call.slice).device : -1);
  group.stream.add(on_device ? trace.track(call.slice).stream : kAbsent);
  if (call.bytes <= 0) return;
  group.volume.add(call.bytes, duration);
}

/// Nothing where its size is not known, or no other rank is there to be waited for.
std::optional<AlikeKey> alike_key(const Trace& trace, const CollectiveCall& call,
                                  std::size_t group) {
  const Collective* const metadata = call.metadata;
  if (call.size == 0 || (metadata != nullptr && metadata->group_size == 1)) return {};
  return AlikeKey{group, trace.slices.name[call.slice.row()], call.size,
                  metadata == nullptr ? StringId() : metadata->group_name};
}

Result<Collectives> compute(const Context& context) {
  const Trace& trace = context.trace;
  const std::string& by = context.options.group_by;
  GroupIndex index;
  GroupIndex sizes;
  Collectives collectives{.shared = {&trace}};
  std::vector<Group>& groups = collectives.rows;
  std::map<AlikeKey, Alike> alike;
  for (const CollectiveCall& call : describe_collectives(context, selected(context))) {
    const std::size_t row = call.slice.row();
    const auto size = static_cast<std::uint32_t>(sizes.of(call.size));
    const std::uint32_t split = by == "size"     ? size
                                : by == "stream" ? trace.slices.track[row].value
                                : by == "name"   ? trace.slices.name[row].value
                                                 : 0;
    const std::size_t number = index.of(pair_key(static_cast<std::uint32_t>(call.kind), split));
    if (number == groups.size()) groups.push_back({.kind = call.kind});
    add(trace, call, groups[number]);
    if (const auto key = alike_key(trace, call, number))
      alike[*key].add(trace.slices.duration[row]);
    collectives.shared.all += trace.slices.duration[row];
  }
  for (const auto& [key, calls] : alike) {
    if (calls.count < kFewestCalls) continue;
    Group& group = groups[std::get<0>(key)];
    const Duration transfer = calls.min * static_cast<std::int64_t>(calls.count);
    group.transfer = group.transfer.value_or(Duration()) + transfer;
    group.wait = group.wait.value_or(Duration()) + (calls.total - transfer);
  }
  return collectives;
}

constexpr std::string_view kImportance[] = {
    "kind",    "count",  "total_ns", "wait_ns",    "transfer_ns", "bytes",  "gb_per_s", "percent",
    "mean_ns", "max_ns", "names",    "mean_bytes", "min_ns",      "device", "stream"};

constexpr Need kNeeds[] = {{StoreTable::work}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "collectives",
       .title = "What ranks exchange, by kind: how often, how much, how long, and waiting in it",
       .doc = "One row per kind of collective; --group-by size, stream or name splits it further. "
              "They are the activities of devices that communicate; where no device does, the "
              "outermost calls of each host thread that do, so that a call and the thread that "
              "carries it out are two. A call belongs to the steps or the window in which it "
              "starts. One rank's recording does not show when the others came: waiting is an "
              "estimate, what a call takes above the shortest of its name and size. Where all of "
              "them waited, it is too small. `fathom diagnose` of the recordings of all ranks "
              "compares each call with its counterparts.",
       .group_by = kGroupBy,
       .sort = "-total_ns",
       .example = "fathom collectives trace.json.gz --group-by size",
       .needs = kNeeds,
       .none = "The recording holds no collectives.",
       .importance = kImportance});
}

}  // namespace
}  // namespace collectives_report

Report collectives() { return collectives_report::report(); }

}  // namespace fathom
