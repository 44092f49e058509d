// malloc and its like, in front of glibc's own. operator new calls them, and the loader too.
#include <cerrno>
#include <cstddef>

#include "tests/programs/starving.h"

// glibc's names of what we stand in front of.
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT
void __libc_free(void* memory);                                  // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* memory, std::size_t size);            // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
}

namespace {

void* none() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

using fathom::test::fails;

// NOLINTBEGIN(readability-identifier-naming): the C library's
extern "C" {

void* malloc(std::size_t size) noexcept { return fails() ? none() : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return fails() ? none() : __libc_calloc(count, size);
}
void free(void* memory) noexcept { __libc_free(memory); }
void* realloc(void* memory, std::size_t size) noexcept {
  return fails() ? none() : __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return fails() ? none() : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fails() ? none() : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  void* const made = fails() ? nullptr : __libc_memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
