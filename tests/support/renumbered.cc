// Every member of every table is named in a structured binding, so that a new one has to be.
#include "tests/support/renumbered.h"

#include <algorithm>
#include <type_traits>

namespace fathom {
namespace {

/// What a trace has beside its slices, which no structured binding can name: a new member has to be
/// added here, and to Renumbering::visit() where it holds ids that parsing threads give.
struct BesideSlices {
  decltype(Trace::strings) strings;
  decltype(Trace::tracks) tracks;
  decltype(Trace::processes) processes;
  decltype(Trace::categories) categories;
  decltype(Trace::signatures) signatures;
  decltype(Trace::launch_configs) launch_configs;
  decltype(Trace::numbers) numbers;
  decltype(Trace::timed) timed;
  decltype(Trace::slice_arguments) slice_arguments;
  decltype(Trace::instant_arguments) instant_arguments;
  decltype(Trace::flows) flows;
  decltype(Trace::memory) memory;
  decltype(Trace::samples) samples;
  decltype(Trace::instants) instants;
  decltype(Trace::devices) devices;
  decltype(Trace::distributed) distributed;
  decltype(Trace::process_runs) process_runs;
  decltype(Trace::functions) functions;
  decltype(Trace::function_calls) function_calls;
  decltype(Trace::lines) lines;
  decltype(Trace::function_parts) function_parts;
  decltype(Trace::line_parts) line_parts;
  decltype(Trace::sources) sources;
  decltype(Trace::stack_frames) stack_frames;
  decltype(Trace::stack_samples) stack_samples;
  decltype(Trace::facts) facts;
  decltype(Trace::import) import;
  decltype(Trace::format) format;
  decltype(Trace::origin_ns) origin_ns;
  decltype(Trace::origin_is_unix) origin_is_unix;
  decltype(Trace::bytes_read) bytes_read;
  decltype(Trace::span) span;
};
static_assert(sizeof(Trace) == sizeof(SliceTables) + sizeof(BesideSlices));

/// Where each row goes.
std::size_t reversed(std::size_t row, std::size_t rows) { return rows - 1 - row; }

class Renumbering {
 public:
  explicit Renumbering(Trace& trace)
      : strings_(trace.strings.size()),
        signatures_(trace.signatures.size()),
        configs_(trace.launch_configs.size()),
        categories_(trace.categories.size()) {}

  void visit(Trace& trace) {
    auto& [slices, ops, kernels, copies, frames, syncs, collectives] =
        static_cast<SliceTables&>(trace);
    all(slices, ops, kernels, copies, frames, syncs, collectives);
    all(trace.tracks, trace.processes, trace.categories, trace.signatures, trace.launch_configs,
        trace.timed, trace.numbers, trace.slice_arguments, trace.instant_arguments, trace.flows,
        trace.memory, trace.samples, trace.instants, trace.process_runs, trace.functions,
        trace.function_calls, trace.lines, trace.function_parts, trace.line_parts, trace.sources,
        trace.stack_frames, trace.stack_samples);
    StringPool& strings = trace.strings;
    StringPool pool;
    for (std::size_t row = strings.size(); row-- > 1;) pool.intern(strings.view(StringId(row)));
    strings = std::move(pool);
    std::ranges::reverse(trace.categories);
    std::ranges::reverse(trace.signatures);
    std::ranges::reverse(trace.launch_configs);
  }

 private:
  template <typename... Members>
  void all(Members&... members) {
    (visit(members), ...);
  }
  template <typename T>
  void visit(Column<T>& column) {
    for (T& value : column) visit(value);
  }
  template <typename T>
  void visit(std::vector<T>& rows) {
    for (T& row : rows) visit(row);
  }
  /// A type that is not named here holds no id that parsing threads give.
  template <typename T>
  void visit(T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Time> ||
                      std::is_same_v<T, Duration> || std::is_same_v<T, TrackId> ||
                      std::is_same_v<T, SliceId>,
                  "say here what ids the new type holds");
    static_cast<void>(value);
  }

  void visit(StringId& id) {
    if (id.valid() && id.row() > 0) id = StringId(1 + reversed(id.row() - 1, strings_ - 1));
  }
  void visit(SignatureId& id) {
    if (id.valid()) id = SignatureId(reversed(id.row(), signatures_));
  }
  void visit(LaunchConfigId& id) {
    if (id.valid()) id = LaunchConfigId(reversed(id.row(), configs_));
  }

  void visit(Track& row) {
    auto& [kind, process, thread, pid, tid, device, stream, name, unit, sort_index, slices] = row;
    all(kind, process, thread, pid, tid, device, stream, name, unit, sort_index, slices);
  }
  void visit(Process& row) {
    auto& [id, name, labels, sort_index] = row;
    all(id, name, labels, sort_index);
  }
  void visit(StackFrame& row) {
    auto& [parent, function, file, line] = row;
    all(parent, function, file, line);
  }
  void visit(StackSample& row) {
    auto& [pid, tid, time, thread, frame, on_cpu, queued, blocked, cause, object] = row;
    all(pid, tid, time, thread, frame, on_cpu, queued, blocked, cause, object);
  }
  void visit(ProcessRun& row) {
    auto& [pid, parent, rank, status, role, name, start_ns, end_ns, wall_ns, user_ns, system_ns,
           peak_bytes, read_bytes, written_bytes] = row;
    all(pid, parent, rank, status, role, name, start_ns, end_ns, wall_ns, user_ns, system_ns,
        peak_bytes, read_bytes, written_bytes);
  }
  void visit(FunctionTime& row) {
    auto& [pid, file, name, line, calls, total, self, primitive] = row;
    all(pid, file, name, line, calls, total, self, primitive);
  }
  void visit(FunctionCalls& row) {
    auto& [pid, file, name, line, caller_file, caller_name, caller_line, timed, calls, primitive,
           total, self] = row;
    all(pid, file, name, line, caller_file, caller_name, caller_line, timed, calls, primitive,
        total, self);
  }
  void visit(LineTime& row) {
    auto& [pid, file, function, first, last, function_line, hits, total, self] = row;
    all(pid, file, function, first, last, function_line, hits, total, self);
  }
  void visit(FunctionPart& row) {
    auto& [time, when, step] = row;
    all(time, when, step);
  }
  void visit(LinePart& row) {
    auto& [time, when, step] = row;
    all(time, when, step);
  }
  void visit(Interval& row) {
    auto& [begin, end] = row;
    all(begin, end);
  }
  void visit(SourceText& row) {
    auto& [file, text] = row;
    all(file, text);
  }
  void visit(TimedSlice& row) {
    auto& [pid, start, duration, name, category, number] = row;
    all(pid, start, duration, name, category, number);
  }
  void visit(NumberedSlice& row) {
    auto& [slice, number] = row;
    all(slice, number);
  }
  void visit(Argument& row) {
    auto& [number, key, value] = row;
    all(number, key, value);
  }
  void visit(Category& row) {
    auto& [name, kind, slices] = row;
    all(name, kind, slices);
  }
  void visit(Slices& table) {
    auto& [track, start, duration, name, category, correlation, external_id, detail] = table;
    all(track, start, duration, name, correlation, external_id, detail);
    for (std::uint8_t& row : category) row = static_cast<std::uint8_t>(reversed(row, categories_));
  }
  void visit(Signature& row) {
    auto& [shapes, types, strides, concrete] = row;
    all(shapes, types, strides, concrete);
  }
  void visit(Ops& table) {
    auto& [signature, sequence, forward_thread, flops, stack, module] = table;
    all(signature, sequence, forward_thread, flops, stack, module);
  }
  void visit(LaunchConfig& row) {
    auto& [grid, block, registers, shared_memory, blocks, warps, occupancy] = row;
    all(registers, shared_memory, blocks, warps, occupancy);
  }
  void visit(Kernels& table) {
    auto& [config, graph_node] = table;
    all(config, graph_node);
  }
  void visit(Copies& table) {
    auto& [bytes, kind, source, destination] = table;
    all(bytes, kind, source, destination);
  }
  void visit(Collective& row) {
    auto& [slice, name, dtype, in_elements, out_elements, group_size, group_name, group_description,
           ranks, sequence] = row;
    all(slice, name, dtype, in_elements, out_elements, group_size, group_name, group_description,
        ranks, sequence);
  }
  void visit(Frames& table) {
    auto& [id, parent, module_id] = table;
    all(id, parent, module_id);
  }
  void visit(Syncs& table) {
    auto& [kind, wait_stream, wait_event, wait_correlation] = table;
    all(kind, wait_stream, wait_event, wait_correlation);
  }
  void visit(FlowPoints& table) {
    auto& [track, time, id, category, phase] = table;
    all(track, time, id, category, phase);
  }
  void visit(MemoryEvents& table) {
    auto& [track, time, address, bytes, allocated, reserved, device_type, device] = table;
    all(track, time, address, bytes, allocated, reserved, device_type, device);
  }
  void visit(Samples& table) {
    auto& [track, time, value] = table;
    all(track, time, value);
  }
  void visit(Instants& table) {
    auto& [track, time, name] = table;
    all(track, time, name);
  }

  std::size_t strings_;
  std::size_t signatures_;
  std::size_t configs_;
  std::size_t categories_;
};

}  // namespace

Trace renumbered(Trace trace) {
  Renumbering(trace).visit(trace);
  return trace;
}

Trace coarse(Trace trace, Duration grid) {
  const auto down = [grid](Time time) { return time - time.time_since_epoch() % grid; };
  Slices& slices = trace.slices;
  for (std::size_t row = 0; row < slices.size(); ++row) {
    const Time start = down(slices.start[row]);
    slices.duration[row] = down(slices.end(SliceId(row))) - start;
    slices.start[row] = start;
  }
  for (Column<Time>* times :
       {&trace.flows.time, &trace.memory.time, &trace.samples.time, &trace.instants.time}) {
    for (Time& time : *times) time = down(time);
  }
  trace.span = {down(trace.span.begin), down(trace.span.end)};
  return trace;
}

}  // namespace fathom
