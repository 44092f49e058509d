// Sums up the loaded segments that nothing writes to.
#include "engine/inputs/build_sum.h"

#include <cstddef>

#include <elf.h>
#include <link.h>

#include "base/block_sum.h"
#include "base/hash.h"

namespace fathom {
namespace {

struct Search {
  std::uintptr_t address;  ///< Of something in the wanted object.
  std::uint64_t sum;
};

/// Reads what lies between the constants too, which the address sanitizer would call a fault.
[[gnu::no_sanitize_address]] std::uint64_t sum_of(const char* bytes, std::size_t size) {
  constexpr std::size_t kStride = 64;
  const std::size_t strides = size / kStride * kStride;
  std::uint64_t sum = block_sum(bytes, strides);
  bytes += strides, size -= strides;
  for (; size >= sizeof(std::uint64_t); bytes += sizeof sum, size -= sizeof sum) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, bytes, sizeof word);
    sum = hash_mix(sum, word);
  }
  for (; size > 0; ++bytes, --size) sum = hash_mix(sum, static_cast<unsigned char>(*bytes));
  return sum;
}

int sum_up(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto* const search = static_cast<Search*>(data);
  bool holds = false;
  std::uint64_t sum = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    holds |= search->address >= begin && search->address - begin < segment.p_memsz;
    if ((segment.p_flags & PF_W) != 0 || (segment.p_flags & PF_R) == 0) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the loader's
    sum = hash_mix(sum, sum_of(reinterpret_cast<const char*>(begin), segment.p_memsz));
  }
  if (!holds) return 0;
  search->sum = sum;
  return 1;
}

}  // namespace

std::uint64_t build_sum() {
  static const std::uint64_t kSum = [] {
    Search search{.address = reinterpret_cast<std::uintptr_t>(&sum_up), .sum = 0};
    dl_iterate_phdr(&sum_up, &search);
    return search.sum;
  }();
  return kSum;
}

}  // namespace fathom
