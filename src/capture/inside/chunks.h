// Chunks: the memory that events are noted down in, taken from the system and used again.
#pragma once

#include <cstddef>

#include <fathom/record.h>

namespace fathom::inside {

inline constexpr std::size_t kChunkBytes = std::size_t{64} << 10;
inline constexpr std::size_t kChunkEvents = kChunkBytes / sizeof(detail::Event);

/// Zeroed; null where the system has none. Not of malloc, which the program may have replaced or be
/// in the middle of.
void* memory_of_system(std::size_t bytes);

/// Events of one thread in the order in which it noted them down. It lies beside its memory, which
/// a forked child must not touch: it would copy it.
struct Chunk {
  detail::Event* memory = nullptr;
  detail::Event* begin = nullptr;
  detail::Event* end = nullptr;  ///< Of what is noted down.
  Chunk* next = nullptr;         ///< In the list that it is in.
};

/// Chunks, oldest first. Nothing is allocated.
class ChunkQueue {
 public:
  void push(Chunk* chunk) {
    chunk->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = chunk;
    last_ = chunk;
    ++size_;
  }
  /// Null where there is none.
  Chunk* pop() {
    Chunk* const chunk = first_;
    if (chunk == nullptr) return nullptr;
    first_ = chunk->next;
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return chunk;
  }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
  std::size_t size_ = 0;
};

/// Free chunks, and how many there may be. Not thread-safe.
class ChunkPool {
 public:
  explicit ChunkPool(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  void set_max_bytes(std::size_t bytes) { max_bytes_ = bytes; }
  /// One with room for kChunkEvents, or null: the cap is reached, or the system has no memory.
  Chunk* take();
  /// Cannot fail.
  void give_back(Chunk* chunk);

 private:
  Chunk* fresh();

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  Chunk* free_ = nullptr;
  Chunk* blank_ = nullptr;  // without memory yet
  Chunk* blank_end_ = nullptr;
};

}  // namespace fathom::inside
