// Keeps changes in chunks, whose memory is used again.
#include "capture/python/line_timeline.h"

#include <cstdlib>
#include <new>

#include "capture/python/memory_limit.h"

namespace fathom::python {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of the process
bool LineTimeline::on = false;
LineTimeline::Chunk* LineTimeline::spare = nullptr;
std::size_t LineTimeline::chunks = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

bool LineTimeline::grow(std::uint64_t now) {
  if (full_ == 0 && (chunks + 1) * Chunk::kChanges <= kMost) {
    Chunk* chunk = spare;
    if (chunk != nullptr) {
      spare = chunk->next;
    } else if (MemoryLimit::take(sizeof(Chunk))) {
      chunk = static_cast<Chunk*>(std::malloc(sizeof(Chunk)));
    }
    if (chunk != nullptr) {
      ++chunks;
      chunk = new (chunk) Chunk;
      (last_ == nullptr ? first_ : last_->next) = chunk;
      last_ = chunk;
      left_ = Chunk::kChanges;
      return true;
    }
  }
  if (full_ == 0) full_ = now;
  ++lost_;
  return false;
}

std::uint64_t LineTimeline::end_of(const Chunk& chunk, std::size_t at, std::uint64_t now) const {
  const Change& change = chunk.changes[at];
  const Change* next = nullptr;
  if (at + 1 < chunk.count)
    next = &chunk.changes[at + 1];
  else if (chunk.next != nullptr && chunk.next->count > 0)
    next = &chunk.next->changes[0];
  if (next == nullptr) return full_ != 0 ? full_ : now;
  // Another thread's: this one is gone.
  return next->tid == change.tid ? next->at : change.at;
}

void LineTimeline::abandon() {
  if (table_ == nullptr) return;
  table_ = nullptr;
  statement_ = 0;
  if (last_ != nullptr && last_->count > 0) add(last_->changes[last_->count - 1].at);
}

void LineTimeline::clear() {
  while (first_ != nullptr) {
    Chunk* const chunk = first_;
    first_ = chunk->next;
    chunk->next = spare;
    spare = chunk;
    --chunks;
  }
  last_ = nullptr;
  left_ = 0;
  table_ = nullptr;
  statement_ = 0;
  full_ = lost_ = 0;
}

}  // namespace fathom::python
