// Allocates and recycles the buffers that CUPTI fills.
#include "capture/cuda/buffers.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace fathom::cuda {

Buffers::Buffers(std::size_t max_bytes)
    : most_(std::max<std::size_t>(2, max_bytes / kBytes)), last_(fresh(true)) {
  if (last_ == nullptr) throw std::bad_alloc();
}

Buffers::Head* Buffers::head_of(std::uint8_t* bytes) {
  return reinterpret_cast<Head*>(bytes - kHead);
}

std::uint8_t* Buffers::bytes_of(Head* head) {
  return reinterpret_cast<std::uint8_t*>(head) + kHead;
}

/// Null where there is no memory.
Buffers::Head* Buffers::fresh(bool scratch) {
  static_assert(sizeof(Head) <= kHead);
  void* const memory =
      mmap(nullptr, kHead + kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return new (memory) Head{nullptr, 0, scratch};
}

/// The first of a list that is not empty.
std::uint8_t* Buffers::hand_out(Head*& list) {
  ++outstanding_;
  Head* const head = std::exchange(list, list->next);
  head->next = nullptr;
  return bytes_of(head);
}

std::uint8_t* Buffers::request() noexcept {
  const std::lock_guard lock(mutex_);
  ++moves_;
  if (free_ != nullptr) return hand_out(free_);
  const bool scratch = made_ >= most_;
  if (scratch) ++refused_;
  if (scratch && free_scratch_ != nullptr) return hand_out(free_scratch_);
  Head* const made = fresh(scratch);
  if (made == nullptr) {
    ++failed_;
    return share_last();
  }
  if (!scratch) ++made_;
  ++outstanding_;
  return bytes_of(made);
}

/// Zeros for the first; whoever comes while it is used writes over that one's records.
std::uint8_t* Buffers::share_last() {
  ++outstanding_;
  last_shared_ = last_users_++ > 0;
  if (!last_shared_) std::memset(bytes_of(last_), 0, kBytes);
  return bytes_of(last_);
}

bool Buffers::complete(std::uint8_t* bytes, std::size_t valid) noexcept {
  Head* const head = head_of(bytes);
  const std::lock_guard lock(mutex_);
  ++moves_;
  --outstanding_;
  if (head == last_) {
    if (!last_shared_) return false;
    --last_users_;
    return true;
  }
  if (abandoned_) {
    head->next = std::exchange(free_, head);
    return true;
  }
  if (head->scratch) return false;
  if (valid == 0) {
    head->next = std::exchange(free_, head);
    return true;
  }
  head->valid = valid;
  (newest_ == nullptr ? oldest_ : newest_->next) = head;
  newest_ = head;
  ++filled_;
  return true;
}

void Buffers::discard(std::uint8_t* bytes, std::uint64_t records) noexcept {
  Head* const head = head_of(bytes);
  if (head != last_) std::memset(bytes, 0, kBytes);
  const std::lock_guard lock(mutex_);
  discarded_ += records;
  if (head == last_) {
    --last_users_;
    return;
  }
  head->next = std::exchange(free_scratch_, head);
}

void Buffers::abandon() noexcept {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
}

std::uint64_t Buffers::moves() {
  const std::lock_guard lock(mutex_);
  return moves_;
}

std::size_t Buffers::filled() {
  const std::lock_guard lock(mutex_);
  return filled_;
}

std::size_t Buffers::outstanding() {
  const std::lock_guard lock(mutex_);
  return outstanding_;
}

std::optional<Buffers::Filled> Buffers::take() {
  const std::lock_guard lock(mutex_);
  if (oldest_ == nullptr) return {};
  Head* const head = std::exchange(oldest_, oldest_->next);
  if (oldest_ == nullptr) newest_ = nullptr;
  head->next = nullptr;
  --filled_;
  return Filled{bytes_of(head), head->valid};
}

void Buffers::give_back(std::uint8_t* bytes) noexcept {
  Head* const head = head_of(bytes);
  std::memset(bytes, 0, kBytes);
  const std::lock_guard lock(mutex_);
  head->next = std::exchange(free_, head);
}

bool Buffers::half_full() {
  const std::lock_guard lock(mutex_);
  return filled_ > most_ / 2;
}

std::uint64_t Buffers::take_refused() {
  const std::lock_guard lock(mutex_);
  return std::exchange(refused_, 0);
}

std::uint64_t Buffers::take_failed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failed_, 0);
}

std::uint64_t Buffers::take_discarded() {
  const std::lock_guard lock(mutex_);
  return std::exchange(discarded_, 0);
}

}  // namespace fathom::cuda
