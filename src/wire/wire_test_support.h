// For tests: what a reader finds in bytes, as lines of text; and files that go away.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "wire/reader.h"

namespace fathom::wire {

/// Every record as one line: its kind and its fields.
class Listing final : public Visitor {
 public:
  std::vector<std::string> lines;
  std::vector<std::uint64_t> offsets;
  std::vector<std::string> stacks;

  void clock(const ClockRecord& r, std::uint64_t at) override {
    add(at, "clock", r.monotonic, r.unix, r.error);
  }
  void process(const ProcessRecord& r, std::uint64_t at) override {
    add(at, "process", r.time, r.pid, r.parent, r.rank, r.name, r.role);
  }
  void thread(const ThreadRecord& r, std::uint64_t at) override {
    add(at, "thread", r.pid, r.tid, r.name);
  }
  void slice(const SliceRecord& r, std::uint64_t at) override {
    add(at, "slice", r.start, r.duration, r.pid, r.tid, r.name, r.category, r.value);
  }
  void begin(const MomentRecord& r, std::uint64_t at) override {
    add(at, "begin", r.time, r.pid, r.tid, r.name, r.category);
  }
  void end(const EndRecord& r, std::uint64_t at) override { add(at, "end", r.time, r.pid, r.tid); }
  void instant(const MomentRecord& r, std::uint64_t at) override {
    add(at, "instant", r.time, r.pid, r.tid, r.name, r.category);
  }
  std::uint32_t counter(const CounterRecord& r, std::uint64_t at) override {
    add(at, "counter", r.pid, r.device, r.name, r.unit);
    return ++counters_;
  }
  void sample(const SampleRecord& r, std::uint64_t at) override {
    add(at, "sample", r.time, r.counter, r.value);
  }
  void fact(const FactRecord& r, std::uint64_t at) override {
    add(at, "fact", r.pid, r.key, r.value);
  }
  void exit(const ExitRecord& r, std::uint64_t at) override {
    add(at, "exit", r.time, r.pid, r.status, r.user, r.system, r.peak, r.wall, r.read, r.written);
  }
  void dropped(const DroppedRecord& r, std::uint64_t at) override {
    add(at, "dropped", r.what, r.count);
  }
  /// The names from the outermost on; a stack shows them in place of its frame.
  std::uint32_t frame(const FrameRecord& r, std::uint64_t /*at*/) override {
    stacks.push_back((r.parent == 0 ? "" : stacks[r.parent - 1] + ";") + std::string(r.function) +
                     "@" + std::string(r.file) + ":" + std::to_string(r.line));
    return static_cast<std::uint32_t>(stacks.size());
  }
  void stack(const StackRecord& r, std::uint64_t at) override {
    add(at, "stack", r.time, r.pid, r.tid, r.thread,
        r.frame == 0 ? std::string_view("-") : std::string_view(stacks[r.frame - 1]), r.on_cpu,
        r.queued, r.blocked, r.cause, r.object);
  }
  void function(const FunctionRecord& r, std::uint64_t at) override {
    add(at, "function", r.pid, r.file, r.line, r.name, r.calls, r.total, r.self);
  }
  void line(const LineRecord& r, std::uint64_t at) override {
    add(at, "line", r.pid, r.file, r.first, r.last, r.function, r.function_line, r.hits, r.total,
        r.self);
  }
  void function_part(const FunctionPartRecord& r, std::uint64_t at) override {
    add(at, "function_part", r.start, r.duration, r.pid, r.step, r.file, r.line, r.name, r.calls,
        r.total, r.self);
  }
  void line_part(const LinePartRecord& r, std::uint64_t at) override {
    add(at, "line_part", r.start, r.duration, r.pid, r.step, r.file, r.first, r.last, r.function,
        r.function_line, r.hits, r.total, r.self);
  }
  void function_calls(const FunctionCallsRecord& r, std::uint64_t at) override {
    add(at, "function_calls", r.pid, r.file, r.line, r.name, r.caller_file, r.caller_line,
        r.caller_name, r.calls, r.primitive, r.total, r.self);
  }
  void line_run(const LineRunRecord& r, std::uint64_t at) override {
    add(at, "line_run", r.start, r.duration, r.pid, r.tid, r.file, r.first, r.function);
  }

  /// The lines of one kind.
  [[nodiscard]] std::vector<std::string> of(const std::string& kind) const {
    std::vector<std::string> found;
    for (const std::string& line : lines) {
      if (line == kind || line.starts_with(kind + " ")) found.push_back(line);
    }
    return found;
  }

 private:
  static std::string text(std::string_view field) { return std::string(field); }
  static std::string text(double field) { return std::to_string(field); }
  template <std::integral T>
  static std::string text(T field) {
    return std::to_string(field);
  }
  template <typename... Fields>
  void add(std::uint64_t at, const char* kind, const Fields&... fields) {
    std::string line = kind;
    ((line += " " + text(fields)), ...);
    lines.push_back(std::move(line));
    offsets.push_back(at);
  }
  std::uint32_t counters_ = 0;
};

struct ReadBack {
  Listing listing;
  Damage damage;
  std::uint64_t blocks = 0;
};

/// Reads bytes in pieces of that size.
inline void read_back(std::string_view bytes, ReadBack& result, std::size_t piece = 1 << 20) {
  Reader reader(result.listing);
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    reader.feed(std::as_bytes(std::span(bytes.substr(at, piece))));
  reader.finish();
  result.damage = reader.damage();
  result.blocks = reader.blocks();
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fathom_wire_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace fathom::wire
