// mremap() for builds with the thread sanitizer, which does not hear of the system's: it would take
// what another thread maps at the old place later for the same memory.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include <sys/mman.h>

/// Always to another place, which is all that our callers allow.
extern "C" void* mremap(void* old, std::size_t old_bytes, std::size_t bytes, int /*flags*/, ...) {
  void* const moved = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (moved == MAP_FAILED) return moved;
  std::memcpy(moved, old, std::min(old_bytes, bytes));
  munmap(old, old_bytes);
  return moved;
}
