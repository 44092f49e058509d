// Chunks: the memory that events are noted down in, taken from the system and used again.
#pragma once

#include <cstddef>
#include <vector>

#include <fathom/record.h>

namespace fathom::inside {

inline constexpr std::size_t kChunkBytes = std::size_t{64} << 10;
inline constexpr std::size_t kChunkEvents = kChunkBytes / sizeof(detail::Event);

/// Events of one thread in the order in which it noted them down.
struct Chunk {
  detail::Event* memory = nullptr;  ///< As taken from the pool.
  detail::Event* begin = nullptr;
  detail::Event* end = nullptr;  ///< Of what is noted down.
};

/// Free chunks, and how many there may be. Not thread-safe. Memory does not come from malloc, which
/// the program may have replaced or be in the middle of.
class ChunkPool {
 public:
  explicit ChunkPool(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  void set_max_bytes(std::size_t bytes) { max_bytes_ = bytes; }
  /// kChunkEvents events, or null: the cap is reached, or the system has no memory.
  detail::Event* take();
  void give_back(detail::Event* chunk);

 private:
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  // Not linked through the chunks: a forked child that touched them would copy them all.
  std::vector<detail::Event*> free_;
};

}  // namespace fathom::inside
