// malloc and its like, counted, in front of glibc's own. operator new calls them.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fathom/memory.h>
#include <malloc.h>

#include "capture/inside/recorder.h"

// glibc's names of what we stand in front of.
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT
void __libc_free(void* memory);                                  // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* memory, std::size_t size);            // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
}

namespace fathom {
namespace {

/// Threads share a few sets of counts, mostly one each.
struct alignas(64) Counts {
  std::atomic<std::uint64_t> allocations{0};
  std::atomic<std::uint64_t> frees{0};
  std::atomic<std::uint64_t> allocated{0};
  std::atomic<std::uint64_t> freed{0};
};
constexpr std::size_t kSets = 64;
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): there is one malloc
constinit std::array<Counts, kSets> all_counts{};
constinit std::atomic<std::size_t> threads{0};
__thread Counts* own_counts = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

Counts& counts() noexcept {
  if (own_counts == nullptr)
    own_counts = &all_counts[threads.fetch_add(1, std::memory_order_relaxed) % kSets];
  return *own_counts;
}

void* allocated(void* memory) noexcept {
  if (memory == nullptr) return nullptr;
  Counts& mine = counts();
  mine.allocations.fetch_add(1, std::memory_order_relaxed);
  mine.allocated.fetch_add(malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}

void freed(void* memory) noexcept {
  if (memory == nullptr) return;
  Counts& mine = counts();
  mine.frees.fetch_add(1, std::memory_order_relaxed);
  mine.freed.fetch_add(malloc_usable_size(memory), std::memory_order_relaxed);
}

void* aligned(std::size_t alignment, std::size_t size) noexcept {
  return allocated(__libc_memalign(alignment, size));
}

}  // namespace

memory_totals memory() noexcept {
  memory_totals totals;
  // Frees first: what is freed was allocated before.
  for (const Counts& set : all_counts) {
    totals.frees += set.frees;
    totals.freed_bytes += set.freed;
  }
  for (const Counts& set : all_counts) {
    totals.allocations += set.allocations;
    totals.allocated_bytes += set.allocated;
  }
  return totals;
}

namespace {

void sample(wire::Writer& writer, std::int32_t pid, std::int64_t now) {
  // Counters belong to a writer; a forked child has another one.
  struct Ids {
    const wire::Writer* writer = nullptr;
    std::uint32_t live = 0;
    std::uint32_t allocations = 0;
    std::uint32_t allocated = 0;
  };
  static constinit Ids ids;
  if (ids.writer != &writer) ids = {.writer = &writer};
  // Each that there was no memory for is asked for again.
  if (ids.live == 0) ids.live = writer.counter(pid, -1, "heap", "bytes");
  if (ids.allocations == 0) ids.allocations = writer.counter(pid, -1, "heap.allocations", "count");
  if (ids.allocated == 0) ids.allocated = writer.counter(pid, -1, "heap.allocated", "bytes");
  const memory_totals totals = memory();
  writer.sample(now, ids.live, static_cast<double>(totals.allocated_bytes - totals.freed_bytes));
  writer.sample(now, ids.allocations, static_cast<double>(totals.allocations));
  writer.sample(now, ids.allocated, static_cast<double>(totals.allocated_bytes));
}

[[gnu::constructor]] void begin() { inside::Recorder::set_tick_hook(sample); }

}  // namespace
}  // namespace fathom

// NOLINTBEGIN(readability-identifier-naming): the C library's
extern "C" {

void* malloc(std::size_t size) noexcept { return fathom::allocated(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return fathom::allocated(__libc_calloc(count, size));
}
void free(void* memory) noexcept {
  fathom::freed(memory);
  __libc_free(memory);
}
void* realloc(void* memory, std::size_t size) noexcept {
  const std::size_t before = memory == nullptr ? 0 : malloc_usable_size(memory);
  void* const after = __libc_realloc(memory, size);
  if (after == nullptr && size != 0) return nullptr;  // `memory` is as it was
  if (memory != nullptr) {
    fathom::Counts& mine = fathom::counts();
    mine.frees.fetch_add(1, std::memory_order_relaxed);
    mine.freed.fetch_add(before, std::memory_order_relaxed);
  }
  return fathom::allocated(after);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return fathom::aligned(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fathom::aligned(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* const made = fathom::aligned(alignment, size);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}
void* valloc(std::size_t size) noexcept {
  constexpr std::size_t kPage = 4096;
  return fathom::aligned(kPage, size);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
