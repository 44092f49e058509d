// How much memory the recorder of Python may hold.
#pragma once

#include <cstddef>

namespace fathom::python {

/// All threads together hold no more than this many bytes; what is beyond is counted as one.
class MemoryLimit {
 public:
  static void set(std::size_t bytes) { left = bytes; }
  static bool take(std::size_t bytes) {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  }

 private:
  // One limit of the process.
  // NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)
  static std::size_t left;
  // NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)
};

}  // namespace fathom::python
