// The sums of lines of all threads, copied out of their profiles, which begin at 0 again.
#pragma once

#include <cstddef>

#include "capture/python/cpython.h"

namespace fathom::python {

struct TakenLine {
  PyObject* code = nullptr;  ///< Stays as long as the process.
  unsigned statement = 0;
  unsigned long long hits = 0;
  long long self_ns = 0;
  long long total_ns = 0;
};

struct TakenLines {
  TakenLine* lines = nullptr;
  std::size_t count = 0;

  TakenLines() = default;
  TakenLines(const TakenLines&) = delete;
  TakenLines& operator=(const TakenLines&) = delete;
  ~TakenLines();
  /// The sums of all parts of the run that have ended; with `part_ends` the last one ends here.
  /// False where there is no memory: then the sums stay where they are.
  bool copy(bool part_ends);
};

}  // namespace fathom::python
