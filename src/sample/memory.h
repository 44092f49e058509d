// Memory: the memory of another process, read without stopping it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include <sys/types.h>

namespace fathom::sample {

/// An address in the process that is read.
using Address = std::uint64_t;

/// What is read from where.
struct Piece {
  Address at = 0;
  std::span<std::byte> to;
};

/// The number that lies `offset` bytes behind the start; 0 where it does not lie within.
template <typename T>
requires std::is_integral_v<T> T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value = 0;
  if (offset <= bytes.size() && sizeof value <= bytes.size() - offset)
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Memory may change while it is read, and may be gone at any time: what is read is to be checked.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  /// Reads the pieces in this order; how many of them could be read whole. The first that could not
  /// ends it.
  [[nodiscard]] virtual std::size_t read_pieces(std::span<const Piece> pieces) const = 0;

  [[nodiscard]] bool read(Address at, std::span<std::byte> to) const {
    const Piece piece{.at = at, .to = to};
    return read_pieces({&piece, 1}) == 1;
  }
  template <typename T>
  requires std::is_integral_v<T>
  [[nodiscard]] std::optional<T> number(Address at) const {
    T value = 0;
    if (!read(at, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
  [[nodiscard]] std::optional<Address> pointer(Address at) const { return number<Address>(at); }
};

/// That of a process, by process_vm_readv.
class ProcessMemory final : public Memory {
 public:
  explicit ProcessMemory(pid_t pid) : pid_(pid) {}
  [[nodiscard]] std::size_t read_pieces(std::span<const Piece> pieces) const override;

 private:
  pid_t pid_;
};

}  // namespace fathom::sample
