// The sums of all threads, copied out of their profiles, which begin at 0 again.
#pragma once

#include <cstddef>

namespace fathom::python {

struct TakenRow {
  const void* caller = nullptr;  ///< Its label; of an edge only.
  const void* label = nullptr;
  bool is_of_nobody = false;  ///< Called from what is not recorded.
  unsigned long long calls = 0;
  unsigned long long recursive = 0;
  long long self_ns = 0;
  long long total_ns = 0;
};

/// First the edges, then the functions. Labels stay valid as long as the process.
struct Taken {
  TakenRow* rows = nullptr;
  std::size_t edges = 0;
  std::size_t functions = 0;

  Taken() = default;
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken();
  /// The sums of all parts of the run that have ended; with `part_ends` the last one ends here.
  /// False where there is no memory: then the sums stay where they are.
  bool copy(bool part_ends);
};

}  // namespace fathom::python
