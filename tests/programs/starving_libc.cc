// What the counting malloc calls, in front of glibc's own: for a program that has a malloc already.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <malloc.h>

#include "tests/programs/starving.h"

// glibc's names of what we do not stand in front of.
extern "C" {
void __libc_free(void* memory);                                  // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
}

namespace {

/// More than that of malloc: for that, memalign might call malloc itself.
constexpr std::size_t kAlignment = 2 * alignof(std::max_align_t);

void* allocated(std::size_t size) {
  if (!fathom::test::fails()) return __libc_memalign(kAlignment, size);
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): glibc's
extern "C" {

void* __libc_malloc(std::size_t size) { return allocated(size); }
void* __libc_calloc(std::size_t count, std::size_t size) {
  if (size != 0 && count > SIZE_MAX / size) return nullptr;
  void* const memory = allocated(count * size);
  if (memory != nullptr) std::memset(memory, 0, count * size);
  return memory;
}
void* __libc_realloc(void* memory, std::size_t size) {
  if (memory != nullptr && size == 0) {
    __libc_free(memory);
    return nullptr;
  }
  void* const made = allocated(size);
  if (made == nullptr || memory == nullptr) return made;
  std::memcpy(made, memory, std::min(size, malloc_usable_size(memory)));
  __libc_free(memory);
  return made;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
