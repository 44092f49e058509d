// Block: the records of one block as they are packed, with its own table of texts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

#include "wire/layout.h"

namespace fathom::wire {

/// Packs fields one after the other, without gaps.
class Packer {
 public:
  explicit Packer(char* at) : at_(at) {}
  template <typename T>
  Packer& operator<<(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
    return *this;
  }
  [[nodiscard]] char* at() const { return at_; }

 private:
  char* at_;
};

/// A buffer for the header and the records of one block. Allocates when it is made, never later.
/// The caller looks at fits() before it adds.
class Block {
 public:
  /// Full at about `bytes`. Null where there is no memory.
  static std::unique_ptr<Block> make(std::size_t bytes);

  /// True if a record of this kind that uses texts of so many bytes still fits.
  [[nodiscard]] bool fits(Kind kind, std::size_t texts, std::size_t text_bytes) const;
  [[nodiscard]] bool empty() const { return records_ == 0; }
  [[nodiscard]] std::size_t payload_bytes() const { return size_ - kHeaderBytes; }
  /// Records but for the texts.
  [[nodiscard]] std::uint64_t records() const { return records_; }

  /// The id of a text in this block; writes its record when it is new. Longer ones than kMaxText
  /// are cut where a character begins.
  std::uint32_t text(std::string_view text);
  /// Room for a record; the caller packs body_bytes(kind) into it.
  Packer add(Kind kind);
  /// Completes the header; what is to be written. Valid until clear().
  std::string_view finish(std::uint64_t number);
  /// Begins the next block.
  void clear();

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t offset = 0;  // of the text in the buffer
    std::uint32_t length = 0;
    std::uint32_t id = 0;  // 0: free
  };
  static constexpr std::size_t kSlots = 4096;
  static constexpr std::size_t kMaxTexts = kSlots * 3 / 4;

  Block(std::unique_ptr<char[]> buffer, std::size_t capacity, std::size_t full);

  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_;
  std::size_t full_;
  std::size_t size_ = kHeaderBytes;
  std::uint64_t records_ = 0;
  std::uint32_t texts_ = 0;
  std::array<Slot, kSlots> slots_{};
};

}  // namespace fathom::wire
