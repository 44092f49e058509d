// PerfEvent: a thread's registers and stack, copied by the kernel while it runs (perf_event_open).
// SwitchEvent: when it was taken from its processor, and when it was given one again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/descriptor.h"
#include "base/result.h"
#include "sample/native/registers.h"
#include "sample/switches.h"

namespace fathom::sample::native {

/// Where a thread was.
struct PerfSample {
  std::int64_t time = 0;  ///< CLOCK_MONOTONIC, ns.
  pid_t thread = 0;
  Registers registers;
  StackCopy stack;  ///< Valid for the call.
};

/// How reading went, over all that was read.
struct PerfCounts {
  std::int64_t samples = 0;
  std::int64_t lost = 0;    ///< The kernel had no room for them.
  std::int64_t other = 0;   ///< Without registers: of the kernel's own threads, or of 32 bits.
  std::int64_t broken = 0;  ///< Records that are none.
};

/// Parses the kernel's records, each given whole.
class PerfRecords {
 public:
  using Take = std::function<void(const PerfSample&)>;
  void read(std::span<const std::byte> record, const Take& take);
  /// Counts what is no record.
  void add_broken() { ++counts_.broken; }
  [[nodiscard]] const PerfCounts& counts() const { return counts_; }

 private:
  void read_sample(std::span<const std::byte> record, const Take& take);
  PerfCounts counts_;
};

/// What keeps perf_event_open from working, and what would help.
struct PerfRefusal {
  std::string why;
  std::string remedy;
};
/// Of an errno.
PerfRefusal perf_refusal(int error);

/// The memory into which the kernel writes the records of one event.
class PerfRing {
 public:
  using Take = std::function<void(std::span<const std::byte> record)>;
  /// `least` is a power of two; where a page is larger, the ring has one.
  static Result<PerfRing> open(Descriptor file, std::size_t least);
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&&) = delete;
  PerfRing(const PerfRing&) = delete;
  PerfRing& operator=(const PerfRing&) = delete;
  ~PerfRing();

  [[nodiscard]] int descriptor() const { return file_.get(); }
  /// Records since the last call, the oldest first. False where it holds something that is none:
  /// the rest is passed over.
  bool read(const Take& take);
  /// Passes over all of them; how many there were. Nothing is copied.
  std::int64_t skip();
  /// How much has been written so far, in bytes. No system call.
  [[nodiscard]] std::uint64_t written() const;
  /// There is so little room left that records may have been lost.
  [[nodiscard]] bool is_nearly_full() const;

 private:
  PerfRing(Descriptor file, void* memory, std::size_t bytes)
      : file_(std::move(file)), memory_(memory), bytes_(bytes) {}

  Descriptor file_;
  void* memory_;
  std::size_t bytes_;
  std::vector<std::byte> record_;
};

/// One sample each time that the thread has run for so long. The thread is not stopped: the kernel
/// copies some 32 KiB in its timer's interrupt. Not for several threads at once.
class PerfEvent {
 public:
  /// `period` in ns. The error of one that is refused says why, and what would help.
  static Result<PerfEvent> open(pid_t thread, std::int64_t period);

  /// Becomes readable with each sample.
  [[nodiscard]] int descriptor() const { return ring_.descriptor(); }
  /// What has come since the last call, the oldest first.
  void read(const PerfRecords::Take& take);
  /// Passes over what has come; how much that was.
  std::int64_t skip() { return ring_.skip(); }
  [[nodiscard]] const PerfCounts& counts() const { return records_.counts(); }

 private:
  explicit PerfEvent(PerfRing ring) : ring_(std::move(ring)) {}

  PerfRing ring_;
  PerfRecords records_;
};

/// Of a record that was read whole; nothing where it is of another kind, or none.
std::optional<Switch> parse_switch(std::span<const std::byte> record);

/// What a thread has begun, or that it has ended.
struct Begun {
  std::vector<pid_t> processes;                      ///< Those that it has forked.
  bool threads = false;                              ///< It has started some.
  bool program = false;                              ///< It has begun another program.
  bool ended = false;                                ///< Nothing more is recorded of it.
  std::vector<std::pair<pid_t, std::string>> names;  ///< That it has given to threads.
};
/// Adds what a record that was read whole tells; one of another kind tells nothing.
void parse_begun(std::span<const std::byte> record, Begun& begun);

/// A thread's switches, and what it begins. Allowed where PerfEvent is; each costs the thread some
/// 1 µs.
class SwitchEvent {
 public:
  static Result<SwitchEvent> open(pid_t thread);
  /// Adds those since the last call, the oldest first. False where they are so many that the kernel
  /// may have had no room for some.
  bool read(std::vector<Switch>& to, Begun& begun);
  /// Another number each time that the thread was taken from its processor or given one: while it
  /// is the same, a thread that slept still does. No system call.
  [[nodiscard]] std::uint64_t state() const { return ring_.written(); }

 private:
  explicit SwitchEvent(PerfRing ring) : ring_(std::move(ring)) {}

  PerfRing ring_;
};

}  // namespace fathom::sample::native
