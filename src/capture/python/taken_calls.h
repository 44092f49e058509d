// The calls of all threads that took long, copied out of their logs, which are empty then.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::python {

/// As it is handed to Python.
struct TakenCall {
  std::int64_t start = 0;  ///< ns of CLOCK_MONOTONIC.
  std::int64_t duration = 0;
  std::int64_t tid = 0;
  std::uint64_t label = 0;  ///< Its address; 0 for what memory did not suffice for.
  std::uint64_t open = 0;   ///< 1: it went on when the recording ended.
};

/// From now on calls of at least so many ns are kept.
void begin_calls(std::int64_t least_ns);

struct TakenCalls {
  TakenCall* calls = nullptr;
  std::size_t count = 0;
  std::uint64_t lost = 0;  ///< Calls that there was no room for.

  TakenCalls() = default;
  TakenCalls(const TakenCalls&) = delete;
  TakenCalls& operator=(const TakenCalls&) = delete;
  ~TakenCalls();
  /// With `ends` those that are open are taken, too, and no more are kept. False where there is no
  /// memory: then all are lost.
  bool copy(bool ends);
};

}  // namespace fathom::python
