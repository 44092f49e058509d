// Writer: appends records to a capture file, in blocks that survive a kill (docs/wire.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/device.h"
#include "wire/records.h"

namespace fathom::wire {

struct WriterOptions {
  /// A block is handed to the operating system when it is this large …
  std::size_t block_bytes = std::size_t{64} << 10;
  /// … or this old: on the next record, or by flush_if_old().
  std::int64_t max_age_ns = 500'000'000;
  /// The file does not grow beyond this; what comes later is counted as dropped. Facts, exits and
  /// the counts themselves have a small reserve beyond it.
  std::uint64_t max_size_bytes = std::uint64_t{4} << 30;
  /// For what is kept in memory beside the block: counters and what a ring repeats.
  std::size_t max_memory_bytes = std::size_t{8} << 20;
  /// A ring: above 0, at least the last so many ns are on disk at any time, at most twice as many.
  /// The file is renamed to older_path() when it covers that long, and a new one is begun.
  std::int64_t last_ns = 0;
};

using Exit = ExitRecord;
using Function = FunctionRecord;
using Line = LineRecord;
using LineRun = LineRunRecord;
using FunctionPart = FunctionPartRecord;
using LinePart = LinePartRecord;
using FunctionCalls = FunctionCallsRecord;
/// A function on a stack; its parent and id follow from its place.
struct StackFrame {
  std::uint32_t number = 0;  ///< The caller's: equal ones have equal function, file and line.
  std::string_view function;
  std::string_view file;
  std::int32_t line = -1;
};
/// Texts and arguments are borrowed for the call.
using Slice = SliceRecord;

/// CLOCK_MONOTONIC, ns: the clock of all times here.
std::int64_t monotonic_ns();

/// Where the older half of a ring lies: "a.older.fathom" for "a.fathom".
std::string older_path(std::string_view path);

/// Appends to one capture file. Safe to use from several threads. Nothing throws and nothing fails
/// after open(), lack of memory included: what cannot be written is counted, and the count is
/// written when it can be. All times are of monotonic_ns(). Relations to Unix time are written with
/// every block.
///
/// In a process that was forked off the one that opened it, a Writer does nothing.
class Writer {
 public:
  /// Makes the file, replacing one that is there. Errors: io. Throws where there is no memory.
  static Result<std::unique_ptr<Writer>> open(std::string path, const WriterOptions& options = {});
  /// Closes.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  Writer(Writer&&) = delete;
  Writer& operator=(Writer&&) = delete;

  /// Relates the clocks now, beyond what is done with every block.
  void clock() noexcept;
  /// `rank` is -1 where there is none; `role` is "main", "rank", "loader-worker" or "child".
  void process(std::int64_t time, std::int32_t pid, std::int32_t parent, std::int32_t rank,
               std::string_view name, std::string_view role) noexcept;
  void thread(std::int32_t pid, std::int64_t tid, std::string_view name) noexcept;
  void slice(std::int64_t start, std::int64_t duration, std::int32_t pid, std::int64_t tid,
             std::string_view name, std::string_view category, std::int64_t value = -1) noexcept;
  /// The same for many at once, at less cost for each.
  void slices(std::span<const Slice> slices) noexcept;
  void begin(std::int64_t time, std::int32_t pid, std::int64_t tid, std::string_view name,
             std::string_view category, std::span<const Argument> arguments = {}) noexcept;
  /// Of the innermost open begin() of that thread.
  void end(std::int64_t time, std::int32_t pid, std::int64_t tid) noexcept;
  void instant(std::int64_t time, std::int32_t pid, std::int64_t tid, std::string_view name,
               std::string_view category, std::span<const Argument> arguments = {}) noexcept;
  /// A new counter; the same id serves as long as the Writer lives. `pid` 0 is the machine,
  /// `device` -1 no device. `unit` as in the columns of reports: "percent", "bytes", "watts", …
  /// 0, which is no counter, where there is no memory for it: ask again later.
  std::uint32_t counter(std::int32_t pid, std::int32_t device, std::string_view name,
                        std::string_view unit) noexcept;
  /// A value of a counter. Ignored where it is not finite, or the counter does not exist.
  void sample(std::int64_t time, std::uint32_t counter, double value) noexcept;
  /// `pid` 0 is the run.
  void fact(std::int32_t pid, std::string_view key, std::string_view value) noexcept;
  void exit(const Exit& exit) noexcept;
  /// Says that `count` records of `what` were not kept by the caller.
  void dropped(std::string_view what, std::uint64_t count) noexcept;
  void function(const Function& function) noexcept;
  void line(const Line& line) noexcept;
  void line_run(const LineRun& run) noexcept;
  void function_part(const FunctionPart& part) noexcept;
  void line_part(const LinePart& part) noexcept;
  void function_calls(const FunctionCalls& calls) noexcept;
  /// What a device did, with how it was launched, what it copied or what it waited for.
  void device(const DeviceActivity& activity) noexcept;
  /// Calls of a library, in their threads.
  void call(const Call& call) noexcept;
  void memory(const MemoryOperation& operation) noexcept;
  /// What a thread spent with a stack, whose frames come outermost first; of a stack that no block
  /// can hold, the innermost ones are kept. `stack.frame` is ignored.
  void stack(const StackRecord& stack, std::span<const StackFrame> frames) noexcept;

  /// Hands everything over. False when something could not be written.
  bool flush() noexcept;
  /// Hands a block over that is older than max_age_ns; cheap otherwise. `now` of monotonic_ns().
  void flush_if_old(std::int64_t now) noexcept;
  /// Hands everything over and closes the file; further records are ignored. False when something
  /// could not be written.
  bool close() noexcept;
  /// Closes the file without what was not handed over: in a forked child that is its parent's, who
  /// writes it. Takes no lock.
  void abandon() noexcept;

  /// Records that were dropped so far, for whatever reason.
  [[nodiscard]] std::uint64_t dropped_records() const noexcept;
  /// Bytes that were handed over so far, in all segments.
  [[nodiscard]] std::uint64_t bytes_written() const noexcept;
  [[nodiscard]] const std::string& path() const noexcept;

 private:
  class State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::wire
