// One mapping per buffer: CUPTI wants them aligned, and the program's malloc may be its own.
#include "capture/cuda/buffers.h"

#include <algorithm>
#include <utility>

#include <sys/mman.h>

namespace fathom::cuda {

Buffers::Buffers(std::size_t max_bytes) : most_(std::max<std::size_t>(2, max_bytes / kBytes)) {}

std::uint8_t* Buffers::request() {
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    std::uint8_t* const bytes = free_.back();
    free_.pop_back();
    return bytes;
  }
  void* const fresh = made_ >= most_ ? MAP_FAILED
                                     : mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) {
    ++refused_;
    return nullptr;
  }
  ++made_;
  return static_cast<std::uint8_t*>(fresh);
}

void Buffers::complete(std::uint8_t* bytes, std::size_t valid) {
  const std::lock_guard lock(mutex_);
  if (valid > 0) {
    filled_.push_back({bytes, valid});
  } else {
    free_.push_back(bytes);
  }
}

std::vector<Buffers::Filled> Buffers::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(filled_, {});
}

void Buffers::give_back(std::uint8_t* bytes) {
  const std::lock_guard lock(mutex_);
  free_.push_back(bytes);
}

bool Buffers::half_full() {
  const std::lock_guard lock(mutex_);
  return filled_.size() > most_ / 2;
}

std::uint64_t Buffers::take_refused() {
  const std::lock_guard lock(mutex_);
  return std::exchange(refused_, 0);
}

}  // namespace fathom::cuda
