// Computes the digest of a trace: rows as lines of text, lines as hashes.
#include "store/digest.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdio>

#include "base/crc32.h"

namespace fathom {
namespace {

/// splitmix64 (Sebastiano Vigna, public domain): spreads the crc over 64 bits so that sums tell
/// rows apart.
std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

std::uint64_t line_hash(std::string_view line) {
  return splitmix64(static_cast<std::uint64_t>(line.size()) << 32U | crc32(line));
}

constexpr std::string_view kTables[] = {
    "slices",  "numbers",  "arguments",  "collectives", "flows",       "memory",
    "samples", "instants", "tracks",     "processes",   "runs",        "functions",
    "lines",   "stacks",   "categories", "devices",     "distributed", "facts"};

/// The fields of one line, joined by '|'; "-" stands for what was not recorded.
class Line {
 public:
  Line& start(std::string_view first) {
    text_.assign(first);
    return *this;
  }
  Line& add(std::string_view field) {
    text_.push_back('|');
    text_.append(field);
    return *this;
  }
  Line& number(std::int64_t value) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  Line& number_or(std::int64_t value, std::int64_t absent = kAbsent) {
    return value == absent ? add("-") : number(value);
  }
  /// A double as the 16 hexadecimal digits of its bits: the same text in every language.
  Line& real(double value) {
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx",
                  static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)));
    return add({digits.data(), 16});
  }
  Line& real_or(double value, double absent) { return value == absent ? add("-") : real(value); }
  Line& dimensions(const std::array<std::int32_t, 3>& sizes) {
    number(sizes[0]);
    for (const std::size_t i : {1U, 2U}) text_.append(",").append(std::to_string(sizes[i]));
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Lines {
 public:
  using Visit = std::function<void(std::string_view, std::string_view)>;
  Lines(const Trace& trace, const Visit& visit) : trace_(trace), visit_(visit) {}

  void all() {
    slices();
    words();
    collectives();
    events();
    tracks();
    processes();
    run();
  }

 private:
  Line& place(std::string_view tag, TrackId id) {
    const Track& track = trace_.tracks[id.row()];
    constexpr std::string_view kKinds[] = {"host", "device", "counter", "async"};
    return line_.start(tag)
        .add(kKinds[static_cast<std::size_t>(track.kind)])
        .add(trace_.text(track.process))
        .add(trace_.text(track.thread));
  }
  /// Absolute: sums of garbage may wrap around, which is as good as any other value.
  Line& time(Time at) {
    const auto sum =
        static_cast<std::uint64_t>(trace_.origin_ns) + static_cast<std::uint64_t>(to_ns(at));
    return line_.number(static_cast<std::int64_t>(sum));
  }
  Line& text_or(StringId id) { return id.valid() ? line_.add(trace_.text(id)) : line_.add("-"); }
  void done(std::string_view table) { visit_(table, line_.text()); }

  void slices();
  void op(std::uint32_t row);
  void kernel(std::uint32_t row);
  void detail(SliceKind kind, std::uint32_t row);
  void slice_place(std::string_view tag, SliceId id);
  void words();
  void collectives();
  void events();
  void tracks();
  void processes();
  void run();

  const Trace& trace_;
  const Visit& visit_;
  Line line_;
};

void Lines::slice_place(std::string_view tag, SliceId id) {
  place(tag, trace_.slices.track[id.row()]).add(trace_.name(id));
  time(trace_.slices.start[id.row()]).number(to_ns(trace_.slices.duration[id.row()]));
}

void Lines::slices() {
  for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
    const SliceId id(row);
    slice_place("slice", id);
    const Category& category = trace_.categories[trace_.slices.category[row]];
    line_.add(trace_.text(category.name)).add(to_string(category.kind));
    line_.number_or(trace_.slices.correlation[row]).number_or(trace_.slices.external_id[row]);
    detail(category.kind, trace_.slices.detail[row]);
    done("slices");
  }
}

void Lines::op(std::uint32_t row) {
  const bool has = row != SliceId::kNone;
  const SignatureId signed_as = has ? trace_.ops.signature[row] : SignatureId();
  const Signature signature = signed_as.valid() ? trace_.signatures[signed_as.row()] : Signature();
  text_or(signature.shapes);
  text_or(signature.types);
  text_or(signature.strides);
  text_or(signature.concrete);
  line_.number_or(has ? trace_.ops.sequence[row] : kAbsent);
  line_.number_or(has ? trace_.ops.forward_thread[row] : kAbsent);
  line_.number_or(has ? trace_.ops.flops[row] : kAbsent);
  text_or(has ? trace_.ops.stack[row] : StringId());
  text_or(has ? trace_.ops.module[row] : StringId());
}

void Lines::kernel(std::uint32_t row) {
  const bool has = row != SliceId::kNone;
  const LaunchConfigId configured = has ? trace_.kernels.config[row] : LaunchConfigId();
  const LaunchConfig config =
      configured.valid() ? trace_.launch_configs[configured.row()] : LaunchConfig();
  line_.dimensions(config.grid).dimensions(config.block).number_or(config.registers, -1);
  line_.number_or(config.shared_memory);
  line_.real_or(config.blocks_per_sm, -1).real_or(config.warps_per_sm, -1);
  line_.real_or(config.occupancy_percent, -1);
  line_.number_or(has ? trace_.kernels.graph_node[row] : kAbsent);
}

/// The same text for a row in which nothing is recorded as for no row.
void Lines::detail(SliceKind kind, std::uint32_t row) {
  const bool has = row != SliceId::kNone;
  switch (kind) {
    case SliceKind::cpu_op:
    case SliceKind::user_annotation:
      return op(row);
    case SliceKind::kernel:
      return kernel(row);
    case SliceKind::memcpy:
    case SliceKind::memset:
      line_.number_or(has ? trace_.copies.bytes[row] : kAbsent);
      line_.add(to_string(has ? trace_.copies.kind[row] : CopyKind::unknown));
      line_.add(to_string(has ? trace_.copies.source[row] : MemoryKind::unknown));
      line_.add(to_string(has ? trace_.copies.destination[row] : MemoryKind::unknown));
      return;
    case SliceKind::python_function:
      line_.number_or(has ? trace_.frames.id[row] : kAbsent);
      line_.number_or(has ? trace_.frames.parent[row] : kAbsent);
      line_.number_or(has ? trace_.frames.module_id[row] : kAbsent);
      return;
    case SliceKind::sync:
      text_or(has ? trace_.syncs.kind[row] : StringId());
      line_.number_or(has ? trace_.syncs.wait_stream[row] : kAbsent);
      line_.number_or(has ? trace_.syncs.wait_event[row] : kAbsent);
      line_.number_or(has ? trace_.syncs.wait_correlation[row] : kAbsent);
      return;
    default:
      return;
  }
}

/// Numbers and arguments.
void Lines::words() {
  for (const NumberedSlice& numbered : trace_.numbers) {
    slice_place("number", numbered.slice);
    line_.number(numbered.number);
    done("numbers");
  }
  for (const Argument& argument : trace_.slice_arguments) {
    slice_place("argument", SliceId(argument.row));
    line_.add(trace_.text(argument.key)).add(trace_.text(argument.value));
    done("arguments");
  }
  for (const Argument& argument : trace_.instant_arguments) {
    place("argument", trace_.instants.track[argument.row]);
    line_.add(trace_.text(trace_.instants.name[argument.row]));
    time(trace_.instants.time[argument.row]).add("-");
    line_.add(trace_.text(argument.key)).add(trace_.text(argument.value));
    done("arguments");
  }
}

void Lines::collectives() {
  for (const Collective& collective : trace_.collectives) {
    slice_place("collective", collective.slice);
    text_or(collective.name);
    text_or(collective.dtype);
    line_.number_or(collective.in_elements).number_or(collective.out_elements);
    line_.number_or(collective.group_size);
    text_or(collective.group_name);
    text_or(collective.group_description);
    text_or(collective.ranks);
    line_.number_or(collective.sequence);
    done("collectives");
  }
}

void Lines::events() {
  constexpr std::string_view kPhases[] = {"s", "t", "f"};
  for (std::size_t row = 0; row < trace_.flows.size(); ++row) {
    place("flow", trace_.flows.track[row]);
    time(trace_.flows.time[row]).number(trace_.flows.id[row]);
    text_or(trace_.flows.category[row]);
    line_.add(kPhases[static_cast<std::size_t>(trace_.flows.phase[row])]);
    done("flows");
  }
  const MemoryEvents& memory = trace_.memory;
  for (std::size_t row = 0; row < memory.size(); ++row) {
    place("memory", memory.track[row]);
    time(memory.time[row]).number_or(memory.address[row]).number(memory.bytes[row]);
    line_.number_or(memory.total_allocated[row]).number_or(memory.total_reserved[row]);
    line_.number(memory.device_type[row]).number(memory.device[row]);
    done("memory");
  }
  for (std::size_t row = 0; row < trace_.samples.size(); ++row) {
    place("sample", trace_.samples.track[row]);
    time(trace_.samples.time[row]).real(trace_.samples.value[row]);
    done("samples");
  }
  for (std::size_t row = 0; row < trace_.instants.size(); ++row) {
    place("instant", trace_.instants.track[row]);
    time(trace_.instants.time[row]).add(trace_.text(trace_.instants.name[row]));
    done("instants");
  }
}

void Lines::tracks() {
  for (std::size_t row = 0; row < trace_.tracks.size(); ++row) {
    const Track& track = trace_.tracks[row];
    place("track", TrackId(row)).number_or(track.pid).number_or(track.tid);
    line_.number(track.device).number_or(track.stream).add(trace_.text(track.name));
    line_.number_or(track.sort_index).number(track.slices);
    text_or(track.unit);
    done("tracks");
  }
  for (const Category& category : trace_.categories) {
    if (category.slices == 0) continue;
    line_.start("category").add(trace_.text(category.name)).add(to_string(category.kind));
    line_.number(static_cast<std::int64_t>(category.slices));
    done("categories");
  }
}

void Lines::processes() {
  for (const Process& process : trace_.processes) {
    line_.start("process").add(trace_.text(process.id)).add(trace_.text(process.name));
    line_.add(trace_.text(process.labels)).number_or(process.sort_index);
    done("processes");
  }
  const auto moment = [this](std::int64_t ns) {
    if (ns == kAbsent) {
      line_.add("-");
    } else {
      time(time_ns(ns));
    }
  };
  for (const ProcessRun& run : trace_.process_runs) {
    line_.start("run").number_or(run.pid).number_or(run.parent).number(run.rank);
    line_.number(run.status);
    text_or(run.role);
    text_or(run.name);
    moment(run.start_ns);
    moment(run.end_ns);
    line_.number_or(run.wall_ns).number_or(run.user_ns).number_or(run.system_ns);
    line_.number_or(run.peak_bytes).number_or(run.read_bytes).number_or(run.written_bytes);
    done("runs");
  }
  for (const FunctionTime& function : trace_.functions) {
    line_.start("function").number_or(function.pid).add(trace_.text(function.file));
    line_.add(trace_.text(function.name)).number(function.line);
    line_.number(static_cast<std::int64_t>(function.calls));
    line_.number(to_ns(function.total)).number(to_ns(function.self));
    done("functions");
  }
  for (const LineTime& line : trace_.lines) {
    line_.start("line").number_or(line.pid).add(trace_.text(line.file));
    line_.add(trace_.text(line.function)).number(line.first).number(line.last);
    line_.number(line.function_line).number(static_cast<std::int64_t>(line.hits));
    line_.number(to_ns(line.total)).number(to_ns(line.self));
    done("lines");
  }
  for (const StackSample& sample : trace_.stack_samples) {
    line_.start("stack")
        .number_or(sample.pid)
        .number_or(sample.tid)
        .add(trace_.text(sample.thread));
    time(sample.time);
    line_.number(to_ns(sample.on_cpu)).number(to_ns(sample.queued)).number(to_ns(sample.blocked));
    line_.add(trace_.text(sample.cause)).add(trace_.text(sample.object));
    for (std::uint32_t row = sample.frame; row != kNoFrame; row = trace_.stack_frames[row].parent) {
      const StackFrame& frame = trace_.stack_frames[row];
      line_.add(trace_.text(frame.function)).add(trace_.text(frame.file)).number(frame.line);
    }
    done("stacks");
  }
}

void Lines::run() {
  for (const Device& device : trace_.devices) {
    line_.start("device").number(device.id).add(device.name).number(device.memory_bytes);
    for (const std::int64_t value :
         {std::int64_t{device.compute_major}, std::int64_t{device.compute_minor},
          std::int64_t{device.sms}, std::int64_t{device.max_threads_per_sm},
          std::int64_t{device.max_threads_per_block}, device.registers_per_sm,
          device.registers_per_block, device.shared_memory_per_sm, device.shared_memory_per_block,
          device.shared_memory_per_block_optin, std::int64_t{device.warp_size}}) {
      line_.number(value);
    }
    done("devices");
  }
  if (trace_.distributed) {
    line_.start("distributed").add(trace_.distributed->backend);
    line_.number_or(trace_.distributed->rank).number_or(trace_.distributed->world_size);
    done("distributed");
  }
  for (const Fact& fact : trace_.facts) {
    line_.start("fact").add(fact.key).add(fact.value);
    done("facts");
  }
}

}  // namespace

void for_each_digest_line(const Trace& trace, const Lines::Visit& visit) {
  Lines(trace, visit).all();
}

Digest digest(const Trace& trace) {
  Digest result;
  for (const std::string_view table : kTables) result.tables.push_back({table, 0, 0});
  for_each_digest_line(trace, [&result](std::string_view table, std::string_view line) {
    for (TableDigest& entry : result.tables) {
      if (entry.table != table) continue;
      ++entry.rows;
      entry.sum += line_hash(line);
      return;
    }
  });
  return result;
}

std::string to_string(const Digest& digest) {
  std::string text;
  for (const TableDigest& entry : digest.tables) {
    std::array<char, 64> numbers{};
    std::snprintf(numbers.data(), numbers.size(), " %llu %016llx\n",
                  static_cast<unsigned long long>(entry.rows),
                  static_cast<unsigned long long>(entry.sum));
    text.append(entry.table).append(numbers.data());
  }
  return text;
}

}  // namespace fathom
