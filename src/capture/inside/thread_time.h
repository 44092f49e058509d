// How long a thread computes, and is ready without a processor, from a moment on.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace fathom::inside {

/// As the system has it in /proc/self/task/TID/schedstat. Nothing allocates; what cannot be read is
/// not known. Whoever uses one from several threads guards it.
class ThreadTime {
 public:
  /// The calling thread, from now on. Further calls do nothing.
  void begin() noexcept;
  /// Reads how far the thread has come. One that has ended keeps what was read last.
  void look() noexcept;
  [[nodiscard]] bool known() const noexcept { return latest_.now > base_.now; }
  [[nodiscard]] std::int64_t wall_ns() const noexcept { return latest_.now - base_.now; }
  [[nodiscard]] std::int64_t cpu_ns() const noexcept { return latest_.cpu - base_.cpu; }
  [[nodiscard]] std::int64_t preempted_ns() const noexcept { return latest_.ready - base_.ready; }

 private:
  struct Reading {
    std::int64_t now = 0;
    std::int64_t cpu = 0;
    std::int64_t ready = 0;
  };
  static bool read(pid_t tid, Reading& reading) noexcept;

  pid_t tid_ = 0;
  Reading base_;
  Reading latest_;
};

}  // namespace fathom::inside
