// Block: the records of one block as they are packed, with its own table of texts.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

#include "wire/layout.h"
#include "wire/records.h"

namespace fathom::wire {

/// Packs fields one after the other, without gaps.
class Packer {
 public:
  explicit Packer(char* at) : at_(at) {}
  template <typename T>
  Packer& operator<<(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
    return *this;
  }
  [[nodiscard]] char* at() const { return at_; }

 private:
  char* at_;
};

/// Texts that records use: how many, and the bytes of all of them.
struct Texts {
  std::size_t count = 0;
  std::size_t bytes = 0;
  Texts& operator+=(const Texts& more) {
    count += more.count;
    bytes += more.bytes;
    return *this;
  }
};

template <typename Record>
Texts texts_of(const Record& record) {
  const auto bytes_of = []<typename Value>(const Value& value) -> std::size_t {
    if constexpr (std::same_as<Value, std::string_view>) return value.size();
    return 0;
  };
  return Record::fields([&](auto... field) {
    return Texts{text_fields<Record>(), (std::size_t{0} + ... + bytes_of(record.*field.member))};
  });
}

/// A buffer for the header and the records of one block. Allocates when it is made, never later.
/// The caller looks at fits() before it adds.
class Block {
 public:
  /// Full at about `bytes`. Null where there is no memory.
  static std::unique_ptr<Block> make(std::size_t bytes);

  /// True if a record with a body of so many bytes that uses such texts still fits.
  [[nodiscard]] bool fits(std::size_t body, const Texts& texts) const;
  [[nodiscard]] bool empty() const { return records_ == 0; }
  [[nodiscard]] std::size_t payload_bytes() const { return size_ - kHeaderBytes; }
  /// Records but for the texts.
  [[nodiscard]] std::uint64_t records() const { return records_; }

  /// The texts that the record uses, and the record.
  template <typename Record>
  void add(const Record& record, Kind kind = Record::kKind) {
    std::array<std::uint32_t, text_fields<Record>() + 1> ids{};
    std::size_t next = 0;
    const auto define = [&]<typename Value>(const Value& value) {
      if constexpr (std::same_as<Value, std::string_view>) ids[next++] = text(value);
    };
    Record::fields([&](auto... field) { (define(record.*field.member), ...); });
    Packer body = begin(kind, body_bytes<Record>());
    next = 0;
    const auto pack = [&]<typename Value>(const Value& value) {
      if constexpr (std::same_as<Value, std::string_view>) {
        body << ids[next++];
      } else {
        body << value;
      }
    };
    Record::fields([&](auto... field) { (pack(record.*field.member), ...); });
    ++records_;
  }
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

  /// The id of a text in this block; writes its record when it is new. Longer ones than kMaxText
  /// are cut where a character begins.
  std::uint32_t text(std::string_view text);
  /// Room for a record; the caller packs so many bytes into it.
  Packer begin(Kind kind, std::size_t body);

  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_;
  std::size_t full_;
  std::size_t size_ = kHeaderBytes;
  std::uint64_t records_ = 0;
  std::uint32_t texts_ = 0;
  std::array<Slot, kSlots> slots_{};
};

}  // namespace fathom::wire
