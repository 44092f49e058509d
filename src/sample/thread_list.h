// The threads that a CPython knows, and who has its GIL.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sample/memory.h"
#include "sample/runtime.h"

namespace fathom::sample {

struct PythonThread {
  Address address = 0;      ///< Of its PyThreadState.
  Address interpreter = 0;  ///< Of its PyInterpreterState.
  Address pthread = 0;      ///< What threading.get_ident() returns.
  std::int64_t native = 0;  ///< What gettid() returns in it; 0 where it is not known.
};

/// Of one interpreter: from 3.12 on each may have its own.
struct Gil {
  Address interpreter = 0;
  Address address = 0;
  Address holder = 0;   ///< The PyThreadState that has it; 0: none.
  bool enabled = true;  ///< False in a free-threaded build that runs without.

  /// Does who waits at this address wait for it?
  [[nodiscard]] bool holds(Address futex) const;
};

struct ThreadList {
  std::vector<PythonThread> threads;
  std::vector<Gil> gils;
  bool complete = false;  ///< False where the lists changed while they were read.
};

/// `tasks` are the numbers of its threads as it knows them itself. To 3.10 CPython does not tell,
/// and in a child of C code's fork() it tells its parent's: then the thread library's own struct is
/// searched for them.
ThreadList read_threads(const Memory& memory, const Runtime& runtime,
                        const std::vector<std::int64_t>& tasks);

}  // namespace fathom::sample
