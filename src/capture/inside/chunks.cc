// The last one given back is the first one taken, as it is still in the
// cache.
#include "capture/inside/chunks.h"

#include <sys/mman.h>

namespace fathom::inside {

detail::Event* ChunkPool::take() {
  if (!free_.empty()) {
    detail::Event* const chunk = free_.back();
    free_.pop_back();
    return chunk;
  }
  if (bytes_ + kChunkBytes > max_bytes_) return nullptr;
  void* const memory =
      mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  bytes_ += kChunkBytes;
  return static_cast<detail::Event*>(memory);
}

void ChunkPool::give_back(detail::Event* chunk) { free_.push_back(chunk); }

}  // namespace fathom::inside
