// Protocol buffers as they lie in a file, for messages that are written once, front to back.
// The wire format: protobuf.dev/programming-guides/encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fathom {

/// One message and those within it. Their sizes are filled in when they end, in four bytes each:
/// longer than needed, but known beforehand.
class ProtoMessage {
 public:
  using Mark = std::size_t;

  void clear() { bytes_.clear(); }
  [[nodiscard]] std::string_view bytes() const { return {bytes_.data(), bytes_.size()}; }

  void varint(std::uint32_t field, std::uint64_t value) {
    raw(field << 3U);
    raw(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    raw(field << 3U | 1U);
    for (unsigned shift = 0; shift < 64; shift += 8)
      bytes_.push_back(static_cast<char>(value >> shift));
  }
  void real(std::uint32_t field, double value) {
    fixed64(field, std::bit_cast<std::uint64_t>(value));
  }
  void text(std::uint32_t field, std::string_view value) {
    raw(field << 3U | 2U);
    raw(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  [[nodiscard]] Mark begin(std::uint32_t field) {
    raw(field << 3U | 2U);
    bytes_.resize(bytes_.size() + kSizeBytes);
    return bytes_.size();
  }
  void end(Mark mark) {
    std::uint64_t size = bytes_.size() - mark;
    for (std::size_t i = 0; i < kSizeBytes; ++i, size >>= 7U) {
      const bool more = i + 1 < kSizeBytes;
      bytes_[mark - kSizeBytes + i] = static_cast<char>((size & 0x7fU) | (more ? 0x80U : 0U));
    }
  }

 private:
  static constexpr std::size_t kSizeBytes = 4;

  void raw(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_.push_back(static_cast<char>(value | 0x80U));
    bytes_.push_back(static_cast<char>(value));
  }

  std::vector<char> bytes_;
};

}  // namespace fathom
