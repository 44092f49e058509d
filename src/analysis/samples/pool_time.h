// PoolTime: how much of a run the workers of a pool share, and how much one thread does alone.
#pragma once

#include <cstddef>
#include <optional>

#include "analysis/samples/stack_roles.h"
#include "store/trace.h"

namespace fathom {

/// By samples of all threads and processes of a program with a pool of Python
/// (concurrent.futures, multiprocessing.Pool, joblib). Those that wait for a processor could
/// compute: they count as if they did.
struct PoolTime {
  std::size_t workers = 0;  ///< Threads or processes of pools that computed, at most at a time.
  Duration wall{};          ///< In which threads were looked at.
  Duration together{};      ///< Two threads or more of the program computed,
  Duration one_worker{};    ///< or only one, which is a worker,
  Duration one_other{};     ///< or only one, which is none.

  [[nodiscard]] Duration serial() const { return one_worker + one_other; }
};

/// Unset where there were fewer than two such workers at a time. O(samples * log samples).
std::optional<PoolTime> pool_time(const Trace& trace, const StackRoles& roles);

}  // namespace fathom
