// Row numbers as types: an Id<A> never turns into an Id<B> or an integer by accident.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace fathom {

/// The number of a row in the table named by `Table` (any tag type). 32 bits: tables hold < 2^32
/// rows.
template <typename Table>
struct Id {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t row) : value(static_cast<std::uint32_t>(row)) {}

  [[nodiscard]] constexpr bool valid() const { return value != kNone; }
  /// The row as an index. Only for valid ids.
  [[nodiscard]] constexpr std::size_t row() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace fathom
