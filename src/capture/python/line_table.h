// LineTable: which statement each line of a code object belongs to. One of the process for each
// code object whose lines are recorded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/python/cpython.h"

namespace fathom::python {

/// The number of a statement within its code object, from 1; 0 is none of them.
using Statement = std::uint16_t;

/// A number of an object, of which the lowest bits make a good slot.
inline std::size_t mixed(const void* object) {
  const auto spread = (reinterpret_cast<std::uintptr_t>(object) >> 4U) * std::uintptr_t{0x9e3779b1};
  return static_cast<std::size_t>(spread >> 16U);
}

struct LineTable {
  PyObject* code = nullptr;  ///< Kept as long as the process: its address is its name.
  long first = 0;            ///< The line that `lines` begins with.
  std::size_t count = 0;     ///< Of lines.
  Statement* lines = nullptr;
  Statement statements = 0;
  bool* is_long = nullptr;       ///< By statement: it lies on several lines.
  std::size_t offsets = 0;       ///< Of `resumes`: none where it is no generator.
  Statement* resumes = nullptr;  ///< By half the offset into the code; filled as they are met.
  LineTable* next = nullptr;     ///< In the same slot.

  [[nodiscard]] Statement at_line(long line) const {
    // One comparison: what lies before is far beyond.
    const auto at = static_cast<std::size_t>(line - first);
    return at < count ? lines[at] : Statement{0};
  }
};

/// The table of a code object, or null.
LineTable* find_line_table(const void* code);
/// What stands in `resumes` of an offset that was not met.
inline constexpr Statement kNotMet = 0xffff;

/// A new one of a code object that stays. `lines` holds a statement for each line from `first` on,
/// `statement_lines` how many lines each statement has, from statement 1; `offsets` is the length
/// of a generator's code. Null where there is no memory.
LineTable* add_line_table(PyObject* code, long first, const std::uint16_t* lines, std::size_t count,
                          const std::uint16_t* statement_lines, std::size_t statements,
                          std::size_t offsets);

}  // namespace fathom::python
