// Allocates and recycles the buffers that CUPTI fills.
#include "capture/cuda/buffers.h"

#include <algorithm>
#include <utility>

#include <sys/mman.h>

namespace fathom::cuda {

Buffers::Buffers(std::size_t max_bytes) : most_(std::max<std::size_t>(2, max_bytes / kBytes)) {}

/// Null where there is no memory.
std::uint8_t* Buffers::fresh() {
  try {
    free_.reserve(made_ + 1);
    filled_.reserve(made_ + 1);
  } catch (...) {
    return nullptr;
  }
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  ++made_;
  return static_cast<std::uint8_t*>(memory);
}

std::uint8_t* Buffers::request() noexcept {
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    std::uint8_t* const bytes = free_.back();
    free_.pop_back();
    return bytes;
  }
  if (made_ >= most_) {
    ++refused_;
    return nullptr;
  }
  std::uint8_t* const bytes = fresh();
  if (bytes == nullptr) ++failed_;
  return bytes;
}

void Buffers::complete(std::uint8_t* bytes, std::size_t valid) noexcept {
  const std::lock_guard lock(mutex_);
  if (valid > 0) {
    filled_.push_back({bytes, valid});
  } else {
    free_.push_back(bytes);
  }
}

std::size_t Buffers::filled() {
  const std::lock_guard lock(mutex_);
  return filled_.size();
}

std::optional<Buffers::Filled> Buffers::take() {
  const std::lock_guard lock(mutex_);
  if (filled_.empty()) return {};
  const Filled oldest = filled_.front();
  filled_.erase(filled_.begin());
  return oldest;
}

void Buffers::give_back(std::uint8_t* bytes) noexcept {
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

std::uint64_t Buffers::take_failed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failed_, 0);
}

}  // namespace fathom::cuda
