// malloc and its like, in front of glibc's own. operator new calls them, and the loader too.
#include "tests/programs/starving.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/starved.h"

// glibc's names of what we stand in front of.
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT
void __libc_free(void* memory);                                  // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* memory, std::size_t size);            // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
}

namespace fathom::test {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): there is one malloc
constinit std::atomic<bool> starving{false};
constinit StarvingReport nowhere{};
constinit StarvingReport* report = &nowhere;
constinit std::uint64_t fails_at = 0;
constinit bool fails_after = false;
__thread int fed = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/// Whether this allocation is to fail.
bool fails() {
  if (!starving.load(std::memory_order_acquire) || fed > 0) return false;
  const std::uint64_t number = report->allocations.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool failed = number == fails_at || (fails_after && number > fails_at);
  if (failed) report->failed.fetch_add(1, std::memory_order_relaxed);
  return failed;
}

void* none() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

void starve() {
  const char* const at = std::getenv("STARVE_AT");
  const char* const path = std::getenv("STARVE_REPORT");
  if (at == nullptr || path == nullptr) return;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  void* const memory =
      mmap(nullptr, sizeof(StarvingReport), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return;
  report = static_cast<StarvingReport*>(memory);
  // One that waits for ever has not survived.
  constexpr unsigned kSeconds = 60;
  alarm(kSeconds);
  fails_at = std::strtoull(at, nullptr, 10);
  fails_after = std::getenv("STARVE_ALL") != nullptr;
  starving.store(true, std::memory_order_release);
}

}  // namespace fathom::test

using fathom::test::fails;
using fathom::test::none;

// NOLINTBEGIN(readability-identifier-naming): the C library's
extern "C" {

int* starving_fed() { return &fathom::test::fed; }

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
