// WriteBuffer: bytes on their way into a sink, in large pieces.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"

namespace fathom {

/// Collects and hands on. The first error is kept and ends the writing; finish() returns it.
class WriteBuffer {
 public:
  explicit WriteBuffer(ByteSink& sink) : sink_(sink), bytes_(kBytes) {}

  WriteBuffer& text(std::string_view part) {
    if (part.size() > kBytes - used_) {
      flush();
      if (part.size() > kBytes) {
        pass(part);
        return *this;
      }
    }
    std::memcpy(bytes_.data() + used_, part.data(), part.size());
    used_ += part.size();
    return *this;
  }
  // As of a string, for JsonWriter.
  void append(std::string_view part) { text(part); }
  void push_back(char c) { character(c); }
  WriteBuffer& character(char c) {
    if (used_ == kBytes) flush();
    bytes_[used_++] = c;
    return *this;
  }
  template <typename Number>
  WriteBuffer& number(Number value) {
    if (kBytes - used_ < kNumberBytes) flush();
    const auto done =
        std::to_chars(bytes_.data() + used_, bytes_.data() + used_ + kNumberBytes, value);
    used_ = static_cast<std::size_t>(done.ptr - bytes_.data());
    return *this;
  }

  /// True when going on is in vain: an error, or nobody reads.
  [[nodiscard]] bool stopped() const { return !state_.ok() || sink_.closed(); }
  /// All bytes so far.
  [[nodiscard]] std::uint64_t written() const { return handed_on_ + used_; }
  /// Hands on what is left, and ends the sink.
  Result<void> finish() {
    flush();
    if (state_) state_ = sink_.finish();
    return state_;
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{256} << 10;
  static constexpr std::size_t kNumberBytes = 40;

  void pass(std::string_view part) {
    if (!stopped()) state_ = sink_.write(part);
    handed_on_ += part.size();
  }
  void flush() {
    pass({bytes_.data(), used_});
    used_ = 0;
  }

  ByteSink& sink_;
  std::vector<char> bytes_;
  std::size_t used_ = 0;
  std::uint64_t handed_on_ = 0;
  Result<void> state_;
};

}  // namespace fathom
