// Counts bytes that are moved, set and compared: the linker puts these functions in place of the C
// library's (cmake/work_count.cmake). A vector whose first element is taken away is moved as a
// whole.
#include <cstddef>

#include "tests/scaling/work_count.h"

namespace {

/// About what a basic block does in the same time.
constexpr std::size_t kBytesPerBlock = 32;

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names.
extern "C" {

void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
int __real_memcmp(const void* one, const void* other, std::size_t bytes);

void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  fathom::add_work(bytes / kBytesPerBlock);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  fathom::add_work(bytes / kBytesPerBlock);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  fathom::add_work(bytes / kBytesPerBlock);
  return __real_memset(to, value, bytes);
}
int __wrap_memcmp(const void* one, const void* other, std::size_t bytes) {
  fathom::add_work(bytes / kBytesPerBlock);
  return __real_memcmp(one, other, bytes);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
