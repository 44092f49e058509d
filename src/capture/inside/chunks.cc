// A list of free chunks; the last one given back is the first one taken, as it is still in the
// cache.
#include "capture/inside/chunks.h"

#include <sys/mman.h>

namespace fathom::inside {

detail::Event* ChunkPool::take() {
  if (free_ != nullptr) {
    detail::Event* const chunk = free_;
    free_ = reinterpret_cast<detail::Event*>(static_cast<std::uintptr_t>(chunk->time));
    return chunk;
  }
  if (bytes_ + kChunkBytes > max_bytes_) return nullptr;
  void* const memory =
      mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  bytes_ += kChunkBytes;
  return static_cast<detail::Event*>(memory);
}

void ChunkPool::give_back(detail::Event* chunk) {
  chunk->time = reinterpret_cast<std::uintptr_t>(free_);
  free_ = chunk;
}

}  // namespace fathom::inside
