// glibc's allocator keeps little back; operator new is like the standard one, but what it throws
// knows the request.
#include "cli/memory.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <malloc.h>

#include "base/memory_use.h"
#include "base/out_of_memory.h"

namespace fathom::cli {
namespace {

/// Blocks of this size go back to the system when they are freed. Left to itself, glibc raises the
/// limit to 32 MiB as it goes, and the working arrays of one analysis stay beside those of the
/// next.
constexpr int kMappedBytes = 1 << 20;

/// What glibc reserves for each thread's arena, touched or not.
constexpr std::uint64_t kArenaBytes = std::uint64_t{64} << 20;

/// Of a limit on address space, arenas reserve no more than this part.
constexpr std::uint64_t kPartForArenas = 16;

/// What the main thread may need of its stack; 140 KiB were seen.
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

/// The main thread's stack takes address space while it grows, and where none is left the kernel
/// ends the program. So it is taken before anything else is.
[[gnu::noinline]] void take_stack() {
  std::array<volatile char, kStackBytes> stack{};
  stack.front() = stack.back();
}

}  // namespace

void set_up_memory() {
  mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  const MemoryLimits limits = resource_limits();
  const std::uint64_t limit = std::min(limits.address_space, limits.data);
  if (limit == MemoryLimits::kNone) return;
  take_stack();
  constexpr std::uint64_t kMostArenas = 1 << 10;
  const std::uint64_t arenas = limit / kPartForArenas / kArenaBytes;
  mallopt(M_ARENA_MAX, static_cast<int>(std::clamp<std::uint64_t>(arenas, 1, kMostArenas)));
}

}  // namespace fathom::cli

// Sanitizers have their own, which find more.
#if !defined(FATHOM_SANITIZE_ADDRESS) && !defined(FATHOM_SANITIZE_THREAD)

void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw fathom::OutOfMemory(bytes);
  return memory;
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (memory == nullptr) throw fathom::OutOfMemory(bytes);
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

#endif
