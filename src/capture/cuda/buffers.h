// Buffers: the memory that CUPTI writes its records into, and what it has filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace fathom::cuda {

/// Thread-safe; what CUPTI calls takes one short lock. Memory comes from the system itself, not
/// from malloc, and is used again. CUPTI always gets a buffer, as versions up to 12.8 crash where
/// they get none: beyond the cap it is a discarded one, whose records are not kept.
class Buffers {
 public:
  struct Filled {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
  };

  /// As many buffers as fit into so many bytes; two at least. Throws where there is no memory for
  /// a single one.
  explicit Buffers(std::size_t max_bytes);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// For CUPTI to write into, filled with zeros. Never null.
  std::uint8_t* request() noexcept;
  /// False where what is in it is not kept: it is to be discarded after a last look.
  bool complete(std::uint8_t* bytes, std::size_t valid) noexcept;
  /// Nobody converts any more: what CUPTI goes on to fill is used again at once, and not counted.
  void abandon() noexcept;
  /// Of one that complete() did not keep.
  void discard(std::uint8_t* bytes, std::uint64_t records) noexcept;
  /// How many were filled and not taken yet.
  [[nodiscard]] std::size_t filled();
  /// How many CUPTI has at this moment.
  [[nodiscard]] std::size_t outstanding();
  /// How often CUPTI asked for one or returned one.
  [[nodiscard]] std::uint64_t moves();
  /// The oldest of those that are filled, to be given back; nothing where there is none.
  std::optional<Filled> take();
  /// Fills it with zeros, in the caller's thread rather than in CUPTI's.
  void give_back(std::uint8_t* bytes) noexcept;
  /// What was filled takes more than half of the memory that there may be.
  [[nodiscard]] bool half_full();
  /// Requests beyond the cap, since the last call.
  std::uint64_t take_refused();
  /// Requests for which the system had no memory, since the last call.
  std::uint64_t take_failed();
  /// Records in discarded buffers, since the last call.
  std::uint64_t take_discarded();

  /// Of a thread of the program, what is lost at most where a signal ends it that cannot be caught,
  /// beside what came since the last tick.
  static constexpr std::size_t kBytes = std::size_t{128} << 10;

 private:
  /// Stands before the bytes that CUPTI gets.
  struct Head {
    Head* next = nullptr;
    std::size_t valid = 0;
    bool scratch = false;
  };
  static constexpr std::size_t kHead = 64;
  static Head* head_of(std::uint8_t* bytes);
  static std::uint8_t* bytes_of(Head* head);
  static Head* fresh(bool scratch);
  std::uint8_t* hand_out(Head*& list);
  std::uint8_t* share_last();

  std::mutex mutex_;
  std::size_t most_;
  std::size_t made_ = 0;
  std::size_t outstanding_ = 0;
  std::size_t filled_ = 0;
  Head* free_ = nullptr;
  Head* free_scratch_ = nullptr;
  Head* oldest_ = nullptr;  // of those that are filled
  Head* newest_ = nullptr;
  Head* last_ = nullptr;  // handed out where there is no memory at all, to several at once
  std::size_t last_users_ = 0;
  bool last_shared_ = false;  // what is in it then cannot be read
  bool abandoned_ = false;
  std::uint64_t moves_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t discarded_ = 0;
};

}  // namespace fathom::cuda
