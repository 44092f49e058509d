// Hands out chunks of memory for events, and takes them back.
#include "capture/inside/chunks.h"

#include <utility>

#include <sys/mman.h>

namespace fathom::inside {

void* memory_of_system(std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// With memory of its own; null where there is none.
Chunk* ChunkPool::fresh() {
  if (blank_ == blank_end_) {
    auto* const more = static_cast<Chunk*>(memory_of_system(kChunkBytes));
    if (more == nullptr) return nullptr;
    blank_ = more;
    blank_end_ = more + kChunkBytes / sizeof(Chunk);
  }
  void* const memory = memory_of_system(kChunkBytes);
  if (memory == nullptr) return nullptr;
  Chunk* const chunk = blank_++;
  chunk->memory = static_cast<detail::Event*>(memory);
  bytes_ += kChunkBytes;
  return chunk;
}

Chunk* ChunkPool::take() {
  if (free_ != nullptr) return std::exchange(free_, free_->next);
  return bytes_ + kChunkBytes > max_bytes_ ? nullptr : fresh();
}

void ChunkPool::give_back(Chunk* chunk) { chunk->next = std::exchange(free_, chunk); }

}  // namespace fathom::inside
