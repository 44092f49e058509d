// PerfEvent: a thread's registers and stack, copied by the kernel while it runs (perf_event_open).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/descriptor.h"
#include "base/result.h"
#include "sample/native/registers.h"

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

/// One sample each time that the thread has run for so long. The thread is not stopped: the kernel
/// copies some 32 KiB in its timer's interrupt. Not for several threads at once.
class PerfEvent {
 public:
  /// `period` in ns. The error of one that is refused says why, and what would help.
  static Result<PerfEvent> open(pid_t thread, std::int64_t period);
  PerfEvent(PerfEvent&& other) noexcept;
  PerfEvent& operator=(PerfEvent&&) = delete;
  PerfEvent(const PerfEvent&) = delete;
  PerfEvent& operator=(const PerfEvent&) = delete;
  ~PerfEvent();

  /// Becomes readable with each sample.
  [[nodiscard]] int descriptor() const { return file_.get(); }
  /// What has come since the last call, the oldest first.
  void read(const PerfRecords::Take& take);
  [[nodiscard]] const PerfCounts& counts() const { return records_.counts(); }

 private:
  PerfEvent(Descriptor file, void* ring) : file_(std::move(file)), ring_(ring) {}

  Descriptor file_;
  void* ring_;
  std::vector<std::byte> record_;
  PerfRecords records_;
};

}  // namespace fathom::sample::native
