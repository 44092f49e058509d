// The timelines of lines of all threads, copied out of their profiles, which keep no more.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::python {

/// A stretch of a thread in a statement, as Python unpacks it: "<qqqQQ".
struct TakenRun {
  std::int64_t start_ns = 0;  ///< CLOCK_MONOTONIC.
  std::int64_t duration_ns = 0;
  std::int64_t tid = 0;
  std::uint64_t code = 0;  ///< The address of the code object, which stays.
  std::uint64_t statement = 0;
};

struct TakenTimeline {
  TakenRun* runs = nullptr;
  std::size_t count = 0;
  std::uint64_t lost = 0;  ///< Changes that there was no room for.

  TakenTimeline() = default;
  TakenTimeline(const TakenTimeline&) = delete;
  TakenTimeline& operator=(const TakenTimeline&) = delete;
  ~TakenTimeline();
  /// False where there is no memory; the timelines are over in either case.
  bool copy();
};

/// The timelines of all threads begin, with the statements that are open.
void begin_timelines();

}  // namespace fathom::python
