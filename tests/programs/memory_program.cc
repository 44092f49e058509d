// A program that allocates known amounts under the counting malloc, for its test.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <fathom/fathom.h>
#include <fathom/memory.h>

namespace {

constexpr std::size_t kMany = 1000;
constexpr std::size_t kBytes = 10'000;

/// Nothing of it may be left out.
void use(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

bool between(std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  return value >= least && value <= most;
}

}  // namespace

int main() {
  const fathom::memory_totals before = fathom::memory();
  std::vector<std::unique_ptr<char[]>> kept(kMany);
  for (auto& one : kept) {
    one.reset(new char[kBytes]);
    use(one.get());
  }
  const fathom::memory_totals after = fathom::memory();
  const std::uint64_t bytes = after.allocated_bytes - before.allocated_bytes;
  if (!between(after.allocations - before.allocations, kMany, kMany + 2)) return 1;
  if (!between(bytes, kMany * kBytes, kMany * (kBytes + 100) + 100'000)) return 2;

  fathom::instant("while much is kept");
  fathom::step();
  fathom::flush();
  std::thread([&kept] { kept.clear(); }).join();
  const fathom::memory_totals end = fathom::memory();
  if (end.freed_bytes - after.freed_bytes < kMany * kBytes) return 3;

  void* memory = std::malloc(100);
  memory = std::realloc(memory, 100'000);
  use(memory);
  std::free(memory);
  memory = std::aligned_alloc(4096, 8192);
  if (reinterpret_cast<std::uintptr_t>(memory) % 4096 != 0) return 4;
  std::free(memory);
  const fathom::memory_totals last = fathom::memory();
  const std::int64_t left = static_cast<std::int64_t>(last.allocated_bytes - last.freed_bytes) -
                            static_cast<std::int64_t>(before.allocated_bytes - before.freed_bytes);
  return between(static_cast<std::uint64_t>(left + 1'000'000), 0, 2'000'000) ? 0 : 5;
}
