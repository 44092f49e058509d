// How much memory the recorder of Python may hold.
#pragma once

#include <cstddef>

namespace fathom::python {

/// All threads together hold no more than this many bytes; what is beyond is counted as one.
class MemoryLimit {
 public:
  static void set(std::size_t bytes) { left_ = bytes; }
  static bool take(std::size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one limit of the process
  static std::size_t left_;
};

}  // namespace fathom::python
