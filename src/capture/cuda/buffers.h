// Buffers: the memory that CUPTI writes its records into, and what it has filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
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
  std::uint8_t* request();
  void complete(std::uint8_t* bytes, std::size_t valid);
  /// What was filled since the last call, oldest first. give_back() each.
  std::vector<Filled> take();
  void give_back(std::uint8_t* bytes);
  /// What was filled takes more than half of the memory that there may be.
  [[nodiscard]] bool half_full();
  /// Requests that found none, since the last call.
  std::uint64_t take_refused();

  static constexpr std::size_t kBytes = std::size_t{2} << 20;

 private:
  std::mutex mutex_;
  std::size_t most_;
  std::size_t made_ = 0;
  std::vector<std::uint8_t*> free_;
  std::vector<Filled> filled_;
  std::uint64_t refused_ = 0;
};

}  // namespace fathom::cuda
