// copies: memory copies and fills by kind and by the memory they touch.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/groups.h"
#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"kind", ColumnKind::text, "", "HtoD, DtoH, DtoD, PtoP, HtoH, array, memset or unknown."},
    {"source", ColumnKind::text, "",
     "Memory read: pageable, pinned, device, array or managed, where recorded."},
    {"destination", ColumnKind::text, "", "Memory written, likewise."},
    {"count", ColumnKind::count, "", "How many there were."},
    {"total_ns", ColumnKind::duration_ns, "ns", "Sum of their durations."},
    {"mean_ns", ColumnKind::duration_ns, "ns", "Mean duration, rounded."},
    {"min_ns", ColumnKind::duration_ns, "ns", "Shortest duration.", true},
    {"max_ns", ColumnKind::duration_ns, "ns", "Longest duration."},
    {"percent", ColumnKind::percent, "percent",
     "Share of the time of all selected copies and fills."},
    {"bytes", ColumnKind::bytes, "bytes", "Bytes moved or filled, where recorded."},
    {"mean_bytes", ColumnKind::bytes, "bytes", "Mean size, rounded."},
    {"gb_per_s", ColumnKind::real, "GB/s",
     "Bytes over duration of those with a recorded size, in 10^9 bytes per second."},
    {"device", ColumnKind::integer, "", "Device number, where all agree."},
    {"stream", ColumnKind::integer, "", "Stream number, where all agree.", false, "stream"},
    {"ops", ColumnKind::name, "", "Operators that started them, the most frequent first.", false,
     "op"},
};

constexpr std::string_view kGroupBy[] = {"kind", "op", "stream"};

struct Group {
  CopyKind kind = CopyKind::unknown;
  MemoryKind source = MemoryKind::unknown;
  MemoryKind destination = MemoryKind::unknown;
  std::uint64_t count = 0;
  Duration total{};
  Duration min = Duration::max();
  Duration max{};
  std::uint64_t sized = 0;  // those with a recorded size
  std::int64_t bytes = 0;
  Duration sized_total{};
  Shared<std::int32_t> device;
  Shared<std::int64_t> stream;
  OpCounts ops;
};

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
  ++group.sized;
  const std::int64_t bytes = trace.copies.bytes[detail];
  if (__builtin_add_overflow(group.bytes, bytes, &group.bytes)) {
    group.bytes =
        std::numeric_limits<std::int64_t>::max();  // a damaged file; the sum means nothing
  }
  group.sized_total += duration;
}

Value memory_value(MemoryKind kind) {
  return kind == MemoryKind::unknown ? Value() : text_value(to_string(kind));
}

std::int64_t rounded_mean(std::int64_t total, std::uint64_t count) {
  return std::llround(static_cast<double>(total) / static_cast<double>(count));
}

std::vector<Value> row_of(const Trace& trace, const Group& group, Duration all) {
  const bool sized = group.sized != 0;
  const auto time = static_cast<double>(to_ns(group.sized_total));
  return {
      text_value(to_string(group.kind)),
      memory_value(group.source),
      memory_value(group.destination),
      int_value(group.count),
      ns_value(group.total),
      int_value(rounded_mean(to_ns(group.total), group.count)),
      ns_value(group.min),
      ns_value(group.max),
      percent_value(static_cast<double>(to_ns(group.total)), static_cast<double>(to_ns(all))),
      sized ? int_value(group.bytes) : Value(),
      sized ? int_value(rounded_mean(group.bytes, group.sized)) : Value(),
      sized && time > 0 ? Value(static_cast<double>(group.bytes) / time) : Value(),
      shared_value(group.device, -1),
      shared_value(group.stream, kAbsent),
      text_value(group.ops.text(trace)),
  };
}

Result<Table> compute(const Context& context) {
  const Trace& trace = context.trace;
  const Selector selector = context.selector();
  const std::string& by = context.options.group_by;
  GroupIndex index;
  std::vector<Group> groups;
  Duration all{};
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
    all += trace.slices.duration[activity.row()];
  }
  Table table;
  for (const Group& group : groups) table.rows.push_back(row_of(trace, group, all));
  return table;
}

constexpr std::string_view kImportance[] = {
    "kind",    "count",   "total_ns",   "source", "destination", "gb_per_s", "bytes",
    "percent", "mean_ns", "mean_bytes", "ops",    "max_ns",      "device",   "stream"};

}  // namespace

Report copies() {
  return {.id = "copies",
          .title = "Memory copies and fills: size, speed, and which memory they touch",
          .doc =
              "One row per kind and pair of memories; --group-by op or stream splits it further. A "
              "copy belongs to "
              "the steps or the window in which it starts. The totals of this table and of "
              "`kernels` sum to the "
              "device time. Copies from or to pageable memory make the host wait.",
          .columns = kColumns,
          .group_by = kGroupBy,
          .sort = "-total_ns",
          .example = "fathom copies trace.json.gz --group-by op",
          .compute = compute,
          .importance = kImportance};
}

}  // namespace fathom
