// ThreadPool: the threads that share the work of one computation, and how many there may be.
#pragma once

#include <cstddef>
#include <memory>

namespace fathom {

class Helpers;

/// While it lives, run_in_parallel() on this thread, and in the work that it hands out, shares one
/// set of helper threads: together with this thread at most `threads` work at a time, however
/// deeply calls are nested. Helpers start when there is work for them and end with the pool. Where
/// none can be started (a limit on processes, no memory for a stack) those that run do the work.
/// Inside another pool on the same thread it changes nothing: the outer one decides.
class ThreadPool {
 public:
  /// 0: available_threads().
  explicit ThreadPool(unsigned threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  std::unique_ptr<Helpers> helpers_;  ///< None inside another pool.
};

/// How many threads run_in_parallel() uses here at most, the calling one included: the pool's, or
/// available_threads() without one.
unsigned parallel_threads();

/// How many threads the pool that was made last, inside no other, may have or had, on whatever
/// thread; 1 before any: by how much fewer threads would be fewer.
unsigned last_pool_threads() noexcept;

/// Calls work(context, i) for every i < pieces, each once, in order of i, on at most `threads`
/// threads of the pool (0: all), the calling one included; without a pool on threads of its own.
/// Returns when all calls have. The first exception ends it: pieces not begun are left out, and it
/// is thrown again here once those under way have returned.
void run_in_parallel(std::size_t pieces, unsigned threads,
                     void (*work)(const void* context, std::size_t piece), const void* context);

}  // namespace fathom
