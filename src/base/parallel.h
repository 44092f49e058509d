// Runs independent pieces of work on the threads of the pool.
#pragma once

#include <cstddef>

#include "base/thread_pool.h"

namespace fathom {

/// Below about so many rows, starting a thread costs more than it saves.
inline constexpr std::size_t kWorthThreads = 100'000;

/// Calls work(i) for every i < pieces, each once, on up to `threads` threads of the pool (0: all)
/// including the caller's; returns when all are done. Pieces are handed out in order, so put the
/// largest first. An exception is thrown again here, without the pieces that had not begun; of
/// several the first.
template <typename Work>
void for_each_in_parallel(std::size_t pieces, unsigned threads, const Work& work) {
  if (pieces < 2 || threads == 1) {
    for (std::size_t i = 0; i < pieces; ++i) work(i);
    return;
  }
  const auto call = [](const void* context, std::size_t piece) {
    (*static_cast<const Work*>(context))(piece);
  };
  run_in_parallel(pieces, threads, call, &work);
}

/// Calls both, at the same time where there is a thread for it.
template <typename First, typename Second>
void both_in_parallel(const First& first, const Second& second) {
  for_each_in_parallel(2, 0, [&](std::size_t piece) {
    if (piece == 0) {
      first();
    } else {
      second();
    }
  });
}

}  // namespace fathom
