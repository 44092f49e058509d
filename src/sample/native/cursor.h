// Cursor: bytes of a file that nobody vouches for, read from front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fathom::sample::native {

/// What lies behind the end is 0, and `ok` is false from then on.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes, std::size_t at = 0)
      : bytes_(bytes), at_(at), ok_(at <= bytes.size()) {}

  template <typename T>
  T take() {
    T value{};
    if (!ok_ || sizeof value > bytes_.size() - at_) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < kMostLebBits; shift += 7) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < kMostLebBits;) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
      if ((byte & 0x80U) != 0) continue;
      if ((byte & 0x40U) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    ok_ = false;
    return 0;
  }

  /// The next `size` bytes.
  std::span<const std::byte> take_bytes(std::uint64_t size) {
    if (!ok_ || size > bytes_.size() - at_) {
      ok_ = false;
      return {};
    }
    const auto taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }

  /// Forwards or back, by at most the bytes that there are.
  void move(std::int64_t by) {
    const auto to = static_cast<std::uint64_t>(static_cast<std::int64_t>(at_) + by);
    ok_ = ok_ && to <= bytes_.size();
    if (ok_) at_ = to;
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return !ok_ || at_ >= bytes_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  /// A number may be filled up with bytes that say nothing. One that goes on and on is none: the
  /// same entry is read for each function.
  static constexpr unsigned kMostLebBits = 16 * 7;

  std::span<const std::byte> bytes_;
  std::size_t at_;
  bool ok_;
};

}  // namespace fathom::sample::native
