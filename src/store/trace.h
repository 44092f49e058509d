// Trace: everything that was read from one recording, as columns; no file format is known here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "store/columns.h"
#include "store/import_log.h"
#include "store/string_pool.h"

namespace fathom {

struct TrackTable;
struct SliceTable;
struct OpTable;
struct KernelTable;
struct SignatureTable;
struct LaunchConfigTable;
using TrackId = Id<TrackTable>;
using SliceId = Id<SliceTable>;
using SignatureId = Id<SignatureTable>;
using LaunchConfigId = Id<LaunchConfigTable>;

/// What a slice is. The recorder's own spelling is kept beside it (Trace::categories).
enum class SliceKind : std::uint8_t {
  cpu_op,               ///< Framework operator (cpu_op, Operator).
  user_annotation,      ///< record_function and the like, on the host.
  runtime,              ///< cudaLaunchKernel, hipMemcpyAsync, …
  driver,               ///< cuLaunchKernel, …
  kernel,               ///< Device: a kernel.
  memcpy,               ///< Device: a copy.
  memset,               ///< Device: a fill.
  sync,                 ///< cuda_sync: a wait seen by the tracer; not device work.
  gpu_user_annotation,  ///< A host annotation projected onto the device; not device work.
  python_function,      ///< A Python frame.
  overhead,             ///< The profiler's own work.
  trace_span,           ///< The recording itself.
  profiler_range,       ///< cuda_profiler_range: counters over a kernel.
  other,                ///< Anything else with a duration: plain Chrome traces.
};
inline constexpr std::size_t kSliceKinds = static_cast<std::size_t>(SliceKind::other) + 1;
std::string_view to_string(SliceKind kind);

/// True for the three kinds that occupy a device: kernels, copies, fills.
constexpr bool is_device_activity(SliceKind kind) {
  return kind == SliceKind::kernel || kind == SliceKind::memcpy || kind == SliceKind::memset;
}
/// True for calls of a device's runtime or driver.
constexpr bool is_runtime_call(SliceKind kind) {
  return kind == SliceKind::runtime || kind == SliceKind::driver;
}
/// True for the kinds that nest on a host thread: operators, annotations, runtime and driver calls,
/// and the slices of plain Chrome traces.
constexpr bool is_host_work(SliceKind kind) {
  return kind == SliceKind::cpu_op || kind == SliceKind::user_annotation || is_runtime_call(kind) ||
         kind == SliceKind::other;
}

enum class TrackKind : std::uint8_t {
  host_thread,    ///< A thread of a process.
  device_stream,  ///< A stream of a device.
  counter,        ///< A series of samples.
  async,          ///< b/e pairs sharing a category, id and process: may overlap freely.
};

/// A line of the timeline.
struct Track {
  TrackKind kind = TrackKind::host_thread;
  StringId process{};  ///< The pid as written ("1102", "Spans").
  StringId thread{};  ///< The tid as written ("7", "stream 7"); for counters and async: the series.
  std::int64_t pid = kAbsent;     ///< The pid as a number when it is one.
  std::int64_t tid = kAbsent;     ///< The tid as a number when it is one or ends in one.
  std::int32_t device = -1;       ///< Device number of a device_stream, or of a counter.
  std::int64_t stream = kAbsent;  ///< Stream number of a device_stream.
  StringId name{};                ///< thread_name metadata, or empty.
  StringId unit{};                ///< Of a counter's samples, or invalid.
  std::int64_t sort_index = kAbsent;
  std::uint32_t slices = 0;  ///< How many slices lie on it.
};

/// A process of the recording: metadata events of one pid.
struct Process {
  StringId id{};  ///< The pid as written.
  StringId name{};
  StringId labels{};
  std::int64_t sort_index = kAbsent;
};

/// What is known of a process as a whole, from Fathom's own recordings. kAbsent, -1 or an invalid
/// id where it was not recorded.
struct ProcessRun {
  std::int64_t pid = kAbsent;
  std::int64_t parent = kAbsent;
  std::int32_t rank = -1;
  std::int32_t status = -1;         ///< How it ended, as of waitpid().
  StringId role{};                  ///< main, rank, loader-worker, child.
  StringId name{};                  ///< Its command, or what the program calls it.
  std::int64_t start_ns = kAbsent;  ///< Of the trace.
  std::int64_t end_ns = kAbsent;    ///< Of the trace.
  std::int64_t wall_ns = kAbsent;
  std::int64_t user_ns = kAbsent;
  std::int64_t system_ns = kAbsent;
  std::int64_t peak_bytes = kAbsent;  ///< Resident.
  std::int64_t read_bytes = kAbsent;
  std::int64_t written_bytes = kAbsent;
};

/// One function of a deterministic profile, summed over the run.
struct FunctionTime {
  std::int64_t pid = kAbsent;
  StringId file{};
  StringId name{};
  std::uint32_t line = 0;
  std::uint64_t calls = 0;
  Duration total{};  ///< With what it called.
  Duration self{};
  std::uint64_t primitive = 0;  ///< Calls that were inside no other of it; 0: not known.
};

/// Calls of a function by one that called it, of a profile of functions.
struct FunctionCalls {
  std::int64_t pid = kAbsent;
  StringId file{};
  StringId name{};
  std::uint32_t line = 0;
  StringId caller_file{};
  StringId caller_name{};
  std::uint32_t caller_line = 0;
  bool timed = true;  ///< Else no times are known.
  std::uint64_t calls = 0;
  std::uint64_t primitive = 0;  ///< Of these, those that were inside no other one; 0: not known.
  Duration total{};             ///< With what it called.
  Duration self{};
};

/// One statement of a profile of lines, summed up; the same one may have several rows.
struct LineTime {
  std::int64_t pid = kAbsent;
  StringId file{};
  StringId function{};
  std::uint32_t first = 0;          ///< Line.
  std::uint32_t last = 0;           ///< Line.
  std::uint32_t function_line = 0;  ///< Where the function begins.
  std::uint64_t hits = 0;
  Duration total{};  ///< With all that it called.
  Duration self{};   ///< Without what recorded statements of called functions took.
};

/// What a function took in a part of the run; where its process ended well, `functions` holds the
/// sum of all parts.
struct FunctionPart {
  FunctionTime time{};
  Interval when{};
  std::int64_t step = kAbsent;  ///< Its number; kAbsent: between steps.
};

/// The same of a statement, and of `lines`.
struct LinePart {
  LineTime time{};
  Interval when{};
  std::int64_t step = kAbsent;
};

/// The text of a source file as the recording kept it.
struct SourceText {
  StringId file{};
  StringId text{};
};

/// No row of Trace::stack_frames.
inline constexpr std::uint32_t kNoFrame = UINT32_MAX;

/// A function on sampled stacks, at a line, below those that called it.
struct StackFrame {
  std::uint32_t parent = kNoFrame;  ///< An earlier row.
  StringId function{};
  StringId file{};
  std::int32_t line = -1;  ///< -1: not known.
};

/// What a thread spent, until `time`, with a stack.
struct StackSample {
  std::int64_t pid = kAbsent;
  std::int64_t tid = kAbsent;
  Time time{};
  StringId thread{};               ///< Its name.
  std::uint32_t frame = kNoFrame;  ///< The innermost.
  Duration on_cpu{};
  Duration queued{};   ///< It could have run, but had no processor.
  Duration blocked{};  ///< It waited for something.
  StringId cause{};    ///< Of being blocked: gil, lock, sleep, child, file, poll, call.
  StringId object{};   ///< What it waited for.
};

/// A number that the recorder gave with a slice: of a step, a batch, a sample.
struct NumberedSlice {
  SliceId slice{};
  std::int64_t number = 0;
};

/// A word that the program gave to one of its ranges or moments beside the name: NVTX's domain,
/// category, color and payload. No analysis decides by it.
struct Argument {
  std::uint32_t row = 0;  ///< Of Trace::slices, or of Trace::instants.
  StringId key{};
  StringId value{};
};

/// One spelling of a category, e.g. "Kernel" and "kernel" are two rows of kind kernel.
struct Category {
  StringId name{};
  SliceKind kind = SliceKind::other;
  std::uint64_t slices = 0;
};

/// Everything with a duration, in the order of the file. Parallel columns.
template <template <typename> class Of>
struct SliceFields {
  Of<TrackId> track = Absent();
  Of<Time> start = Absent();
  Of<Duration> duration = Absent();  ///< Never negative.
  Of<StringId> name = Absent();
  Of<std::uint8_t> category = Absent();     ///< Row of Trace::categories.
  Of<std::int64_t> correlation = Absent();  ///< Correlation id, or kAbsent.
  Of<std::int64_t> external_id = Absent();  ///< External id, or kAbsent.
  Of<std::uint32_t> detail = Absent();      ///< Row in the detail table of its kind, or Id::kNone.
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.track...);
    visit(of.start...);
    visit(of.duration...);
    visit(of.name...);
    visit(of.category...);
    visit(of.correlation...);
    visit(of.external_id...);
    visit(of.detail...);
  }
};
struct Slices : Columns<SliceFields> {
  [[nodiscard]] std::size_t size() const { return start.size(); }
  [[nodiscard]] Time end(SliceId id) const { return start[id.row()] + duration[id.row()]; }
};

/// What an operator was called with; equal calls share one row. All are canonical JSON text without
/// white space outside strings, e.g. "[[512,3],[]]"; an invalid id where it was not recorded.
struct Signature {
  StringId shapes{};    ///< Input Dims
  StringId types{};     ///< Input type
  StringId strides{};   ///< Input Strides
  StringId concrete{};  ///< Concrete Inputs
  friend bool operator==(const Signature&, const Signature&) = default;
};

/// Detail of cpu_op and user_annotation slices that carry arguments.
template <template <typename> class Of>
struct OpFields {
  Of<SignatureId> signature = Absent();        ///< Row of Trace::signatures.
  Of<std::int64_t> sequence = Absent();        ///< Autograd sequence number, or kAbsent.
  Of<std::int64_t> forward_thread = Absent();  ///< Fwd thread id, or kAbsent.
  Of<std::int64_t> flops = Absent();           ///< As recorded, or kAbsent.
  Of<StringId> stack = Absent();               ///< "Call stack" text, innermost first, or invalid.
  Of<StringId> module = Absent();              ///< "Module Hierarchy", or invalid.
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.signature...);
    visit(of.sequence...);
    visit(of.forward_thread...);
    visit(of.flops...);
    visit(of.stack...);
    visit(of.module...);
  }
};
struct Ops : Columns<OpFields> {
  [[nodiscard]] std::size_t size() const { return sequence.size(); }
};

/// How a kernel was launched; equal launches share one row.
struct LaunchConfig {
  std::array<std::int32_t, 3> grid = {0, 0, 0};   ///< 0 where it was not recorded.
  std::array<std::int32_t, 3> block = {0, 0, 0};  ///< 0 where it was not recorded.
  std::int32_t registers = -1;                    ///< Per thread; -1 where not recorded.
  std::int64_t shared_memory = kAbsent;  ///< Static + dynamic bytes per block, as recorded.
  double blocks_per_sm = -1;             ///< As recorded; -1 where not.
  double warps_per_sm = -1;              ///< As recorded; -1 where not.
  double occupancy_percent = -1;         ///< "est. achieved occupancy %"; -1 where not.
  friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
  void each(auto&& visit) const {
    const auto& [g, b, r, shared, blocks, warps, percent] = *this;  // all: else it does not compile
    visit(g), visit(b), visit(r), visit(shared), visit(blocks), visit(warps), visit(percent);
  }
};
struct LaunchConfigHash {
  std::size_t operator()(const LaunchConfig& config) const;
};

/// Detail of kernel slices.
template <template <typename> class Of>
struct KernelFields {
  Of<LaunchConfigId> config = Absent();
  Of<std::int64_t> graph_node = Absent();  ///< "graph node id", or kAbsent.
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.config...);
    visit(of.graph_node...);
  }
};
struct Kernels : Columns<KernelFields> {
  [[nodiscard]] std::size_t size() const { return config.size(); }
};

enum class CopyKind : std::uint8_t { unknown, h2d, d2h, d2d, p2p, h2h, array, memset };
enum class MemoryKind : std::uint8_t { unknown, pageable, pinned, device, array, managed };
std::string_view to_string(CopyKind kind);
std::string_view to_string(MemoryKind kind);

/// Detail of memcpy and memset slices.
template <template <typename> class Of>
struct CopyFields {
  Of<std::int64_t> bytes = Absent();  ///< kAbsent where not recorded.
  Of<CopyKind> kind = Absent();
  Of<MemoryKind> source = Absent();
  Of<MemoryKind> destination = Absent();
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.bytes...);
    visit(of.kind...);
    visit(of.source...);
    visit(of.destination...);
  }
};
struct Copies : Columns<CopyFields> {
  [[nodiscard]] std::size_t size() const { return bytes.size(); }
};

/// Detail of communication: operators, annotations or kernels that carry collective metadata.
struct Collective {
  SliceId slice{};
  StringId name{};
  StringId dtype{};
  std::int64_t in_elements = kAbsent;
  std::int64_t out_elements = kAbsent;
  std::int64_t group_size = kAbsent;
  StringId group_name{};
  StringId group_description{};
  StringId ranks{};  ///< Text, e.g. "[0,1]".
  std::int64_t sequence = kAbsent;
};

/// Detail of python_function slices.
template <template <typename> class Of>
struct FrameFields {
  Of<std::int64_t> id = Absent();         ///< "Python id", or kAbsent.
  Of<std::int64_t> parent = Absent();     ///< "Python parent id", or kAbsent.
  Of<std::int64_t> module_id = Absent();  ///< "Python module id", or kAbsent.
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.id...);
    visit(of.parent...);
    visit(of.module_id...);
  }
};
struct Frames : Columns<FrameFields> {
  [[nodiscard]] std::size_t size() const { return id.size(); }
};

/// What a wait was for: detail of sync slices.
template <template <typename> class Of>
struct SyncFields {
  Of<StringId> kind = Absent();                  ///< "Stream Sync", "Event Sync", …
  Of<std::int64_t> wait_stream = Absent();       ///< wait_on_stream, or kAbsent.
  Of<std::int64_t> wait_event = Absent();        ///< wait_on_cuda_event_id, or kAbsent.
  Of<std::int64_t> wait_correlation = Absent();  ///< wait_on_cuda_event_record_corr_id, or kAbsent.
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.kind...);
    visit(of.wait_stream...);
    visit(of.wait_event...);
    visit(of.wait_correlation...);
  }
};
struct Syncs : Columns<SyncFields> {
  [[nodiscard]] std::size_t size() const { return kind.size(); }
};

enum class FlowPhase : std::uint8_t { start, step, finish };

/// The ends of arrows (s, t, f), in the order of the file.
template <template <typename> class Of>
struct FlowFields {
  Of<TrackId> track = Absent();
  Of<Time> time = Absent();
  Of<std::int64_t> id = Absent();
  Of<StringId> category = Absent();
  Of<FlowPhase> phase = Absent();
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.track...);
    visit(of.time...);
    visit(of.id...);
    visit(of.category...);
    visit(of.phase...);
  }
};
struct FlowPoints : Columns<FlowFields> {
  [[nodiscard]] std::size_t size() const { return time.size(); }
};

/// Allocator events ([memory]), in the order of the file.
template <template <typename> class Of>
struct MemoryFields {
  Of<TrackId> track = Absent();
  Of<Time> time = Absent();
  Of<std::int64_t> address = Absent();
  Of<std::int64_t> bytes = Absent();            ///< Positive: allocated; negative: freed.
  Of<std::int64_t> total_allocated = Absent();  ///< kAbsent where not recorded.
  Of<std::int64_t> total_reserved = Absent();   ///< kAbsent where not recorded.
  Of<std::int8_t> device_type =
      Absent();                       ///< c10::DeviceType: 0 CPU, 1 CUDA, 20 MTIA, …; -1 unknown.
  Of<std::int8_t> device = Absent();  ///< Device number; -1 for the CPU.
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.track...);
    visit(of.time...);
    visit(of.address...);
    visit(of.bytes...);
    visit(of.total_allocated...);
    visit(of.total_reserved...);
    visit(of.device_type...);
    visit(of.device...);
  }
};
struct MemoryEvents : Columns<MemoryFields> {
  [[nodiscard]] std::size_t size() const { return time.size(); }
};

/// Counter samples (C), in the order of the file.
template <template <typename> class Of>
struct SampleFields {
  Of<TrackId> track = Absent();
  Of<Time> time = Absent();
  Of<double> value = Absent();
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.track...);
    visit(of.time...);
    visit(of.value...);
  }
};
struct Samples : Columns<SampleFields> {
  [[nodiscard]] std::size_t size() const { return time.size(); }
};

/// Moments without a duration (i, I, R, n) other than allocator events.
template <template <typename> class Of>
struct InstantFields {
  Of<TrackId> track = Absent();
  Of<Time> time = Absent();
  Of<StringId> name = Absent();
  static constexpr void each(auto&& visit, auto&&... of) {
    visit(of.track...);
    visit(of.time...);
    visit(of.name...);
  }
};
struct Instants : Columns<InstantFields> {
  [[nodiscard]] std::size_t size() const { return time.size(); }
};

/// One entry of deviceProperties. Zero where the recorder did not say.
struct Device {
  std::int32_t id = 0;
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
  std::int32_t sms = 0;
  std::int32_t max_threads_per_sm = 0;
  std::int32_t max_threads_per_block = 0;
  std::int64_t registers_per_sm = 0;
  std::int64_t registers_per_block = 0;
  std::int64_t shared_memory_per_sm = 0;
  std::int64_t shared_memory_per_block = 0;
  std::int64_t shared_memory_per_block_optin = 0;
  std::int32_t warp_size = 32;
};

/// Anything said about the run: top-level keys of the file. `value` is JSON text.
struct Fact {
  std::string key;
  std::string value;
};

/// distributedInfo.
struct Distributed {
  std::string backend;
  std::int64_t rank = kAbsent;
  std::int64_t world_size = kAbsent;
};

/// Slices and what each kind of them has besides.
struct SliceTables {
  Slices slices;
  Ops ops;
  Kernels kernels;
  Copies copies;
  Frames frames;
  Syncs syncs;
  std::vector<Collective> collectives;  ///< Sorted by slice.

  /// Visits the same table of all its arguments at once; without the collectives.
  static void each_table(auto&& visit, auto&&... of) {
    visit(of.slices...);
    visit(of.ops...);
    visit(of.kernels...);
    visit(of.copies...);
    visit(of.frames...);
    visit(of.syncs...);
  }
  /// How many rows the detail table of a kind has.
  [[nodiscard]] std::size_t details(SliceKind kind) const;
};

/// A stretch of the run beside the recorded span: a step, work of a data loader, a phase.
struct TimedSlice {
  std::int64_t pid = kAbsent;
  Time start{};
  Duration duration{};
  StringId name{};
  StringId category{};
  std::int64_t number = kAbsent;
};

/// A loaded recording. Immutable once read; share it freely between threads.
struct Trace : SliceTables {
  StringPool strings;
  std::vector<Track> tracks;
  std::vector<Process> processes;
  std::vector<Category> categories;  ///< At most 256.
  std::vector<Signature> signatures;
  std::vector<LaunchConfig> launch_configs;
  std::vector<TimedSlice> timed;            ///< Outside of the span, or cut by it; in no order.
  std::vector<NumberedSlice> numbers;       ///< Sorted by slice.
  std::vector<Argument> slice_arguments;    ///< Sorted by row.
  std::vector<Argument> instant_arguments;  ///< Sorted by row.
  FlowPoints flows;
  MemoryEvents memory;
  Samples samples;
  Instants instants;
  std::vector<Device> devices;
  std::optional<Distributed> distributed;
  std::vector<ProcessRun> process_runs;  ///< By pid.
  std::vector<FunctionTime> functions;
  std::vector<FunctionCalls> function_calls;
  std::vector<LineTime> lines;
  std::vector<FunctionPart> function_parts;
  std::vector<LinePart> line_parts;
  std::vector<SourceText> sources;
  std::vector<StackFrame> stack_frames;
  std::vector<StackSample> stack_samples;
  std::vector<Fact> facts;
  ImportLog import;

  std::string format;            ///< Id of the format that read it, e.g. "chrome-json".
  std::int64_t origin_ns = 0;    ///< Time zero of the trace on the recorder's clock, ns.
  bool origin_is_unix = false;   ///< True when origin_ns counts from 1970.
  std::uint64_t bytes_read = 0;  ///< Uncompressed size of the input.
  Interval span{};  ///< First start to last end of host work, frames and device activity.

  [[nodiscard]] std::string_view text(StringId id) const { return strings.view(id); }
  [[nodiscard]] SliceKind kind(SliceId id) const {
    return categories[slices.category[id.row()]].kind;
  }
  [[nodiscard]] std::string_view name(SliceId id) const {
    return strings.view(slices.name[id.row()]);
  }
  [[nodiscard]] const Track& track(SliceId id) const {
    return tracks[slices.track[id.row()].row()];
  }
  [[nodiscard]] const Device* device(std::int32_t number) const;
  [[nodiscard]] const Fact* fact(std::string_view key) const;
  /// The number that was recorded with a slice, or kAbsent. O(log n).
  [[nodiscard]] std::int64_t number(SliceId id) const;
  /// What was recorded with a slice, in the order of the file. O(log n).
  [[nodiscard]] std::span<const Argument> arguments(SliceId id) const;
  /// The value of that key, or "". O(log n).
  [[nodiscard]] std::string_view argument(SliceId id, std::string_view key) const;
};

}  // namespace fathom
