// Keys of work as numbers, which are compared faster than their texts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compare/profile.h"

namespace fathom {

/// The fields of a WorkKey, in their order.
enum class KeyField : std::uint8_t {
  bucket,
  phase,
  module,
  outer,
  op,
  shapes,
  types,
  compiling,
  after_sync
};
inline constexpr std::size_t kKeyFields = static_cast<std::size_t>(KeyField::after_sync) + 1;

/// By field a number; 0 stands for an empty text and for false.
using KeyRank = std::array<std::uint32_t, kKeyFields>;

/// Of each key its numbers: they are equal where the keys are, and ordered as they are, in whole
/// and in each field. Numbers of different calls have nothing to do with one another. O(n log n).
std::vector<KeyRank> key_ranks(std::span<const WorkKey* const> keys);

/// The places of the ranks in the order of the ranks, equal ones in their order. O(n) where numbers
/// are dense, else O(n log n).
std::vector<std::uint32_t> in_order(std::span<const KeyRank> ranks);

}  // namespace fathom
