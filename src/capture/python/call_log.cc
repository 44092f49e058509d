// Keeps calls in chunks, whose memory is used again.
#include "capture/python/call_log.h"

#include <cstdlib>
#include <new>

#include "capture/python/memory_limit.h"

namespace fathom::python {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of the process
std::uint64_t CallLog::least_ticks = CallLog::kNever;
CallLog::Chunk* CallLog::spare = nullptr;
std::size_t CallLog::chunks = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

bool CallLog::grow() {
  if ((chunks + 1) * Chunk::kCalls > kMost) return false;
  Chunk* chunk = spare;
  if (chunk != nullptr) {
    spare = chunk->next;
  } else if (MemoryLimit::take(sizeof(Chunk))) {
    chunk = static_cast<Chunk*>(std::malloc(sizeof(Chunk)));
  }
  if (chunk == nullptr) return false;
  ++chunks;
  chunk = new (chunk) Chunk;
  (last_ == nullptr ? first_ : last_->next) = chunk;
  last_ = chunk;
  return true;
}

void CallLog::add(const void* label, std::uint64_t begin, std::uint64_t end, bool open) {
  if (tid_ == 0) return;  // a thread that is not recorded
  if ((last_ == nullptr || last_->count == Chunk::kCalls) && !grow()) {
    ++lost_;
    return;
  }
  last_->calls[last_->count++] = {begin, end, label, tid_, open};
}

void CallLog::clear() {
  while (first_ != nullptr) {
    Chunk* const chunk = first_;
    first_ = chunk->next;
    chunk->next = spare;
    spare = chunk;
    --chunks;
  }
  last_ = nullptr;
  lost_ = 0;
}

}  // namespace fathom::python
