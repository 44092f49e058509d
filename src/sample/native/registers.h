// Registers: what is known of a thread's registers, numbered as DWARF does.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "sample/memory.h"

namespace fathom::sample::native {

/// As many as the larger of the machines has, the program counter included.
inline constexpr std::size_t kRegisters = 33;

/// Which registers of a machine play a part.
struct Machine {
  std::uint64_t stack = 0;    ///< The stack pointer.
  std::uint64_t counter = 0;  ///< The program counter.
  std::uint64_t frame = 0;    ///< The frame pointer, where a program keeps one.
  /// Functions leave them as they were, so one that no rule speaks of is the caller's, too.
  std::bitset<kRegisters> kept;
  std::uint64_t address_bits = ~std::uint64_t{0};  ///< Return addresses may be signed above them.
};

inline constexpr Machine kX8664 = {.stack = 7,
                                   .counter = 16,
                                   .frame = 6,
                                   // rbx, rbp, r12 to r15
                                   .kept = std::bitset<kRegisters>(0xf048),
                                   .address_bits = ~std::uint64_t{0}};
inline constexpr Machine kArm64 = {.stack = 31,
                                   .counter = 32,
                                   .frame = 29,
                                   // x19 to x30
                                   .kept = std::bitset<kRegisters>(0x7ff80000),
                                   .address_bits = (std::uint64_t{1} << 48U) - 1};
#if defined(__aarch64__)
inline constexpr Machine kMachine = kArm64;
#else
inline constexpr Machine kMachine = kX8664;
#endif

class Registers {
 public:
  [[nodiscard]] std::optional<std::uint64_t> get(std::uint64_t number) const {
    if (number >= kRegisters || !known_[number]) return std::nullopt;
    return values_[number];
  }
  void set(std::uint64_t number, std::uint64_t value) {
    if (number >= kRegisters) return;
    values_[number] = value;
    known_[number] = true;
  }
  void forget(std::uint64_t number) {
    if (number < kRegisters) known_[number] = false;
  }

 private:
  std::array<std::uint64_t, kRegisters> values_{};
  std::bitset<kRegisters> known_;
};

/// A part of a thread's stack, copied.
struct StackCopy {
  Address begin = 0;
  std::span<const std::byte> bytes;

  /// The number of 1, 2, 4 or 8 bytes at this address; nothing where it was not copied.
  [[nodiscard]] std::optional<std::uint64_t> number(Address at, std::size_t size = 8) const {
    if (at < begin || at - begin > bytes.size() || size > bytes.size() - (at - begin) || size > 8)
      return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + (at - begin), size);
    return value;
  }
};

}  // namespace fathom::sample::native
