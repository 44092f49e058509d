// copies: memory copies and fills by kind and by the memory they touch.
#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/groups.h"
#include "reports/report.h"
#include "reports/volume.h"

namespace fathom {
namespace copies_report {
namespace {

struct Group {
  CopyKind kind = CopyKind::unknown;
  MemoryKind source = MemoryKind::unknown;
  MemoryKind destination = MemoryKind::unknown;
  std::uint64_t count = 0;
  Duration total{};
  Duration min = Duration::max();
  Duration max{};
  Volume volume;
  Agreed<std::int32_t> device;
  Agreed<std::int64_t> stream;
  OpCounts ops;
};

struct Shared {
  const Trace* trace = nullptr;
  Duration all{};  ///< Of all rows.
};
using Copies = ReportRows<Group, Shared>;

std::optional<std::string_view> memory_name(MemoryKind kind) {
  return kind == MemoryKind::unknown ? std::nullopt : std::optional(to_string(kind));
}

constexpr Copies::Column kColumns[] = {
    {"kind", ColumnKind::text, "", "HtoD, DtoH, DtoD, PtoP, HtoH, array, memset or unknown.",
     [](const Group& group) { return to_string(group.kind); }},
    {"source", ColumnKind::text, "",
     "Memory read: pageable, pinned, device, array or managed, where recorded.",
     [](const Group& group) { return memory_name(group.source); }},
    {"destination", ColumnKind::text, "", "Memory written, likewise.",
     [](const Group& group) { return memory_name(group.destination); }},
    {"count", ColumnKind::count, "", "How many there were.", by<&Group::count>},
    {"total_ns", ColumnKind::duration_ns, "ns", "Sum of their durations.", by<&Group::total>},
    {"mean_ns", ColumnKind::duration_ns, "ns", "Mean duration, rounded.",
     [](const Group& group) { return rounded_mean(to_ns(group.total), group.count); }},
    {"min_ns", ColumnKind::duration_ns, "ns", "Shortest duration.", by<&Group::min>, true},
    {"max_ns", ColumnKind::duration_ns, "ns", "Longest duration.", by<&Group::max>},
    {"percent", ColumnKind::percent, "percent",
     "Share of the time of all selected copies and fills.",
     [](const Group& group, const Shared& shared) { return percent_of(group.total, shared.all); }},
    {"bytes", ColumnKind::bytes, "bytes", "Bytes moved or filled, where recorded.",
     [](const Group& group) { return group.volume.bytes(); }},
    {"mean_bytes", ColumnKind::bytes, "bytes", "Mean size, rounded.",
     [](const Group& group) { return group.volume.mean_bytes(); }},
    {"gb_per_s", ColumnKind::real, "GB/s",
     "Bytes over duration of those with a recorded size, in 10^9 bytes per second.",
     [](const Group& group) { return group.volume.gb_per_s(); }},
    {"device", ColumnKind::integer, "", "Device number, where all agree.",
     [](const Group& group) { return shared_value(group.device, -1); }},
    {"stream", ColumnKind::integer, "", "Stream number, where all agree.",
     [](const Group& group) { return shared_value(group.stream, kAbsent); }, false, "stream"},
    {"ops", ColumnKind::name, "", "Operators that started them, the most frequent first.",
     [](const Group& group, const Shared& shared) { return group.ops.text(*shared.trace); }, false,
     "op"},
};

constexpr std::string_view kGroupBy[] = {"kind", "op", "stream"};

Group describe(const Trace& trace, SliceId activity) {
  Group group;
  if (trace.kind(activity) == SliceKind::memset) group.kind = CopyKind::memset;
  const std::uint32_t detail = trace.slices.detail[activity.row()];
  if (detail == SliceId::kNone) return group;
  if (group.kind != CopyKind::memset) group.kind = trace.copies.kind[detail];
  group.source = trace.copies.source[detail];
  group.destination = trace.copies.destination[detail];
  return group;
}

std::uint32_t kind_key(const Group& group) {
  return static_cast<std::uint32_t>(group.kind) << 16 |
         static_cast<std::uint32_t>(group.source) << 8 |
         static_cast<std::uint32_t>(group.destination);
}

void add(const Trace& trace, SliceId activity, Group& group) {
  const Duration duration = trace.slices.duration[activity.row()];
  ++group.count;
  group.total += duration;
  group.min = std::min(group.min, duration);
  group.max = std::max(group.max, duration);
  group.device.add(trace.track(activity).device);
  group.stream.add(trace.track(activity).stream);
  const std::uint32_t detail = trace.slices.detail[activity.row()];
  if (detail == SliceId::kNone || trace.copies.bytes[detail] == kAbsent) return;
  group.volume.add(trace.copies.bytes[detail], duration);
}

Result<Copies> compute(const Context& context) {
  const Trace& trace = context.trace;
  const Selector selector = context.selector();
  const std::string& by = context.options.group_by;
  GroupIndex index;
  Copies copies{.shared = {&trace}};
  std::vector<Group>& groups = copies.rows;
  for (const SliceId activity : context.links().activities) {
    if (trace.kind(activity) == SliceKind::kernel || !selector.activity(trace, activity)) continue;
    const std::uint32_t op = op_key(context, activity);
    const Group described = describe(trace, activity);
    const std::uint32_t split = by == "op"       ? op
                                : by == "stream" ? trace.slices.track[activity.row()].value
                                                 : 0;
    const std::size_t number = index.of(pair_key(kind_key(described), split));
    if (number == groups.size()) groups.push_back(described);
    add(trace, activity, groups[number]);
    groups[number].ops.add(op);
    copies.shared.all += trace.slices.duration[activity.row()];
  }
  return copies;
}

constexpr std::string_view kImportance[] = {
    "kind",    "count",   "total_ns",   "source", "destination", "gb_per_s", "bytes",
    "percent", "mean_ns", "mean_bytes", "ops",    "max_ns",      "device",   "stream"};

constexpr Need kNeeds[] = {{StoreTable::copies}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "copies",
       .title = "Memory copies and fills: size, speed, and which memory they touch",
       .doc = "One row per kind and pair of memories; --group-by op or stream splits it further. A "
              "copy belongs to "
              "the steps or the window in which it starts. The totals of this table and of "
              "`kernels` sum to the "
              "device time. Copies from or to pageable memory make the host wait.",
       .group_by = kGroupBy,
       .sort = "-total_ns",
       .example = "fathom copies trace.json.gz --group-by op",
       .needs = kNeeds,
       .none = "The trace holds no copies and no fills.",
       .importance = kImportance});
}

}  // namespace
}  // namespace copies_report

Report copies() { return copies_report::report(); }

}  // namespace fathom
