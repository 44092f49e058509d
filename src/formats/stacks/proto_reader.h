// ProtoReader: the fields of one message of Protocol Buffers.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom {

/// Walks over a message. Borrows its bytes. Source: protobuf.dev/programming-guides/encoding.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}

  /// Goes to the next field. False at the end and where the message is damaged.
  bool next();
  [[nodiscard]] std::uint64_t field() const { return field_; }
  /// Of a number; 0 for others.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::int64_t integer() const { return static_cast<std::int64_t>(number_); }
  /// Of a message, a text or packed numbers; empty for others.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] bool damaged() const { return damaged_; }

  /// Calls visit(number) for each of the field's numbers, packed or not.
  template <typename Visit>
  void each_number(const Visit& visit) {
    if (!packed_) return visit(number_);
    std::string_view rest = bytes_;
    std::uint64_t value = 0;
    while (!rest.empty()) {
      if (!take(rest, value)) {
        damaged_ = true;
        return;
      }
      visit(value);
    }
  }

 private:
  /// Takes a variable-length number off the front.
  static bool take(std::string_view& text, std::uint64_t& value);
  bool fail() {
    damaged_ = true;
    return false;
  }

  std::string_view rest_;
  std::uint64_t field_ = 0;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
  bool packed_ = false;
  bool damaged_ = false;
};

}  // namespace fathom
