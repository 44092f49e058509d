// OutOfMemory: a request for memory that failed, and what was in use then.
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <string_view>

#include "base/memory_use.h"
#include "base/result.h"

namespace fathom {

/// Everything that asks the system or a library for memory throws this, or std::bad_alloc, when it
/// is refused. Made and thrown without allocating.
class OutOfMemory : public std::bad_alloc {
 public:
  /// `requested` bytes; 0: not known.
  explicit OutOfMemory(std::size_t requested) noexcept
      : requested_(requested), use_(memory_use()) {}

  [[nodiscard]] const char* what() const noexcept override { return "out of memory"; }
  [[nodiscard]] std::size_t requested() const { return requested_; }
  [[nodiscard]] const MemoryUse& use() const { return use_; }

 private:
  std::size_t requested_;
  MemoryUse use_;
};

/// One line for the user: what failed, what was in use, the limit and the remedy. `during`: what
/// was done, "reading trace.json"; may be empty.
std::string out_of_memory_text(const std::bad_alloc& error, std::string_view during);

/// What `work` returns, a Result; where it lacks memory, that as an Error.
template <typename Work>
auto or_out_of_memory(std::string_view during, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc& error) {
    return Error{ErrorCode::io, out_of_memory_text(error, during)};
  }
}

}  // namespace fathom
