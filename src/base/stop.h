// Stop: whether somebody still waits for what this thread computes.
#pragma once

#include <atomic>
#include <exception>

namespace fathom {

/// Nobody waits any more. Not a failure of what was asked: who threw it away knows.
class Stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "nobody waits any more"; }
};

/// While it lives, stop_point() on this thread, and in the work that it hands to its pool, throws
/// once the flag is true. Null: nothing stops what is computed here, whatever holds outside. The
/// flag is borrowed.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* flag) noexcept;
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

/// The flag that holds here, to be handed to another thread; null without one.
const std::atomic<bool>* stop_flag() noexcept;

/// Throws Stopped where nobody waits any more. It costs two loads: to be called for parts of the
/// work that take a tenth of a millisecond or more. Piece by piece, run_in_parallel() calls it.
void stop_point();

}  // namespace fathom
