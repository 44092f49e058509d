// Adds device time and device rows to the operator table as torch's own table has them.
#include <algorithm>
#include <vector>

#include "analysis/operators/op_device.h"
#include "analysis/operators/subtree_sums.h"
#include "analysis/util/key_index.h"

namespace fathom {
namespace {

bool is_device_event(SliceKind kind) {
  return is_device_activity(kind) || kind == SliceKind::sync || kind == SliceKind::profiler_range ||
         kind == SliceKind::gpu_user_annotation;
}

bool owns_external_id(SliceKind kind) {
  return kind == SliceKind::cpu_op || kind == SliceKind::user_annotation;
}

std::vector<SliceId> select_device_events(const Context& context) {
  const Trace& trace = context.trace;
  const Selector selector = context.selector();
  std::vector<SliceId> out;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    if (is_device_event(trace.kind(slice)) && selector.activity(trace, slice)) out.push_back(slice);
  }
  return out;
}

/// Kineto widens projected annotations on export by one tick on each side, for the sake of Chrome:
/// 1 ns, or 1 us in files that have no fractions.
Duration widened_by(const Trace& trace, const std::vector<SliceId>& events) {
  bool whole_microseconds = true;
  for (const SliceId slice : events) {
    if (to_ns(trace.slices.duration[slice.row()]) % 1000 != 0) whole_microseconds = false;
  }
  return duration_ns(whole_microseconds ? 2000 : 2);
}

/// By index of `events`: the first operator or annotation of the file that has the event's External
/// id.
std::vector<SliceId> find_owners(const OpDeviceInput& input, const std::vector<SliceId>& events) {
  const Trace& trace = input.context.trace;
  std::vector<SliceId> hosts;
  std::vector<std::int64_t> ids;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    if (trace.slices.external_id[row] == kAbsent || !owns_external_id(trace.kind(slice))) continue;
    if (input.names[trace.slices.name[row]].utility || input.forest.is_asynchronous(slice))
      continue;
    hosts.push_back(slice);
    ids.push_back(trace.slices.external_id[row]);
  }
  const KeyIndex index(ids, kAbsent);
  std::vector<SliceId> owners(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (trace.kind(events[i]) == SliceKind::gpu_user_annotation) continue;
    const auto found = index.find(trace.slices.external_id[events[i].row()]);
    if (!found.empty()) owners[i] = hosts[found.front()];
  }
  return owners;
}

}  // namespace

Duration add_torch_device_time(const OpDeviceInput& input, OpRows& rows) {
  const Trace& trace = input.context.trace;
  const std::vector<SliceId> events = select_device_events(input.context);
  const std::vector<SliceId> owners = find_owners(input, events);
  const Duration widened = widened_by(trace, events);
  SubtreeSums sums(input);
  Duration sum{};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool projected = trace.kind(events[i]) == SliceKind::gpu_user_annotation;
    Duration duration = trace.slices.duration[events[i].row()];
    if (projected) duration = std::max(duration - widened, Duration());
    const std::uint32_t name = input.names[trace.slices.name[events[i].row()]].canonical;
    const OpRowKind kind = projected ? OpRowKind::device_annotation : OpRowKind::device;
    OpRow& own = rows.row(rows.index_of(name, kind, 0));
    if (own.calls++ == 0) own.first = events[i];
    own.device_total += duration;
    own.device_self += duration;
    if (!projected) sum += duration;

    const SliceId owner = owners[i];
    if (!owner.valid() || input.forest.lost_its_kernels(owner)) continue;
    const SliceId slice = input.forest.at_or_above(owner);
    if (slice.valid()) rows.row(host_row(input, rows, slice)).device_self += duration;
    sums.add(slice, duration,
             [&](SliceId event) { static_cast<void>(host_row(input, rows, event)); });
  }
  sums.visit([](SliceId) {},
             [&](SliceId event, Duration inside) {
               rows.row(host_row(input, rows, event)).device_total += inside;
             });
  return sum;
}

}  // namespace fathom
