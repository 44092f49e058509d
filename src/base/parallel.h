// Runs independent pieces of work on the available cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace fathom {

/// Below about so many rows, starting a thread costs more than it saves.
inline constexpr std::size_t kWorthThreads = 100'000;

/// Calls work(i) for every i < pieces, each once, on up to `threads` threads (0: one per core)
/// including the caller's; returns when all are done. Pieces are handed out in order, so put the
/// largest first. `work` must not throw.
template <typename Work>
void for_each_in_parallel(std::size_t pieces, unsigned threads, const Work& work) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < pieces; i = next++) work(i);
  };
  std::vector<std::jthread> helpers;
  for (unsigned i = 1; i < std::min<std::size_t>(threads, pieces); ++i) helpers.emplace_back(run);
  run();
}

}  // namespace fathom
