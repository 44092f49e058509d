// OutOfMemory: a request for memory that failed, and what was in use then.
#pragma once

#include <cstddef>
#include <new>
#include <span>
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

/// How much this thread's operator new was refused last, where a program has one that notes it;
/// 0: nothing, or not known. It is all that is known where a library says only that it lacked
/// memory, or not even an exception finds room.
std::size_t last_refused() noexcept;
void note_refused(std::size_t bytes) noexcept;

/// One line for the user: what failed, what was in use, the limit and the remedy. `during`: what
/// was done, "reading trace.json"; may be empty.
std::string out_of_memory_text(const std::bad_alloc& error, std::string_view during);

/// The same in `room`, cut where it ends. Allocates nothing: for where memory lacks for the text,
/// too. Does not know the limit of the control group.
std::string_view out_of_memory_text_in(std::span<char> room, const OutOfMemory& error) noexcept;

/// "41.2 MiB of address space in use, the limit is 58.59 MiB (ulimit -v); raise it".
std::string limit_text(const MetLimit& met);

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
