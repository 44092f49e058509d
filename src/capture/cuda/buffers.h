// Buffers: the memory that CUPTI writes its records into, and what it has filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace fathom::cuda {

/// Thread-safe; what CUPTI calls takes one short lock. Memory comes from the system itself, not
/// from malloc, and is used again.
class Buffers {
 public:
  struct Filled {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
  };

  /// As many buffers as fit into so many bytes; two at least.
  explicit Buffers(std::size_t max_bytes);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// For CUPTI to write into; null where all are in use: CUPTI then counts what it drops.
  std::uint8_t* request() noexcept;
  void complete(std::uint8_t* bytes, std::size_t valid) noexcept;
  /// How many were filled and not taken yet.
  [[nodiscard]] std::size_t filled();
  /// The oldest of those, to be given back; nothing where there is none.
  std::optional<Filled> take();
  void give_back(std::uint8_t* bytes) noexcept;
  /// What was filled takes more than half of the memory that there may be.
  [[nodiscard]] bool half_full();
  /// Requests beyond the cap, since the last call.
  std::uint64_t take_refused();
  /// Requests for which the system had no memory, since the last call.
  std::uint64_t take_failed();

  static constexpr std::size_t kBytes = std::size_t{2} << 20;

 private:
  std::uint8_t* fresh();

  std::mutex mutex_;
  std::size_t most_;
  std::size_t made_ = 0;
  // Both have room for all that were made, so that handing one over cannot fail.
  std::vector<std::uint8_t*> free_;
  std::vector<Filled> filled_;  // oldest first
  std::uint64_t refused_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace fathom::cuda
