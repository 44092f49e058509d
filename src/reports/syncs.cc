// syncs: each call that made the host wait for the device.
#include "analysis/syncs.h"

#include <algorithm>

#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"name", ColumnKind::name, "", "Name of the synchronising call."},
    {"reason", ColumnKind::text, "",
     "Why it waits: synchronize, blocking copy, blocking fill or pageable copy."},
    {"thread", ColumnKind::text, "", "Thread that waited."},
    {"operator", ColumnKind::name, "", "Innermost operator around the call, or null."},
    {"python_frame", ColumnKind::name, "", "Innermost Python frame around the call, or null."},
    {"start_ns", ColumnKind::time_ns, "ns", "Start of the call, from the start of the trace."},
    {"blocked_ns", ColumnKind::duration_ns, "ns",
     "Duration of the call: how long the host waited."},
    {"idle_after_ns", ColumnKind::duration_ns, "ns",
     "Device idle from the return of the call to the next activity, or to the next synchronising "
     "call about it."},
    {"device", ColumnKind::integer, "", "Device that it most likely waited for, or null."},
};

/// The innermost line of an operator's recorded call stack ("a.py(1): f\nb.py(2): g" or separated
/// by ';').
std::string_view innermost_line(std::string_view stack) {
  return stack.substr(0, stack.find_first_of(";\n"));
}

Value frame_value(const Trace& trace, const SyncCall& sync) {
  if (sync.frame.valid()) return text_value(trace.name(sync.frame));
  if (!sync.op.valid()) return {};
  const std::uint32_t detail = trace.slices.detail[sync.op.row()];
  return detail == SliceId::kNone
             ? Value()
             : text_or_null(innermost_line(trace.text(trace.ops.stack[detail])));
}

Value thread_value(const Trace& trace, SliceId call) {
  const Track& track = trace.track(call);
  const std::string_view name = trace.text(track.name);
  return text_value(name.empty() ? trace.text(track.thread) : name);
}

std::vector<Value> row_of(const Trace& trace, const SyncCall& sync) {
  const std::size_t row = sync.call.row();
  return {
      text_value(trace.name(sync.call)),
      text_value(to_string(sync.reason)),
      thread_value(trace, sync.call),
      sync.op.valid() ? text_value(trace.name(sync.op)) : Value(),
      frame_value(trace, sync),
      ns_value(trace.slices.start[row] - trace.span.begin),
      ns_value(trace.slices.duration[row]),
      sync.idle_after ? ns_value(*sync.idle_after) : Value(),
      sync.device ? int_value(*sync.device) : Value(),
  };
}

Result<Table> compute(const Context& context) {
  const Selector selector = context.selector();
  Table table;
  for (const SyncCall& sync : compute_syncs(context)) {
    if (!selector.host(context.trace, sync.call)) continue;
    if (selector.device && sync.device != selector.device) continue;
    table.rows.push_back(row_of(context.trace, sync));
  }
  return table;
}

}  // namespace

Report syncs() {
  return {
      .id = "syncs",
      .title = "Calls that make the host wait, what asked for them, and the idle time they leave",
      .doc =
          "One row per synchronising call: device, stream and event synchronisation, blocking "
          "copies and fills, "
          "and asynchronous copies to pageable host memory. Waiting is harmless while the device "
          "has work; the "
          "idle device time that follows is what a synchronisation costs.",
      .columns = kColumns,
      .group_by = {},
      .sort = "start_ns",
      .example = "fathom syncs trace.json.gz --sort -idle_after_ns --limit 10",
      .compute = compute};
}

}  // namespace fathom
