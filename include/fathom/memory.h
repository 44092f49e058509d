// What the program allocated: an option of its own, to be linked beside the SDK.
#pragma once

#include <cstdint>

namespace fathom {

/// Allocations since the program started, of all threads; as exact as threads allow that go on
/// meanwhile.
struct memory_totals {  // NOLINT(readability-identifier-naming)
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t allocated_bytes = 0;  ///< As the allocator rounds them.
  std::uint64_t freed_bytes = 0;
};

/// Linking libfathom_memory.a (in CMake: fathom::memory) puts counting in front of malloc and with
/// it of operator new: the recording gets counters "heap" (bytes), "heap.allocations" and
/// "heap.allocated" (bytes, growing) four times a second and at each flush(). Not beside an
/// allocator that replaces malloc too, nor a sanitizer.
///
/// Declared here so that a program can ask; without the library it does not link.
memory_totals memory() noexcept;

}  // namespace fathom
