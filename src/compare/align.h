// Finds which work of two recordings is the same.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compare/profile.h"

namespace fathom {

/// By what the work of both sides was found to be the same, the strongest first.
enum class Alignment : std::uint8_t {
  module_operator_shapes,
  module_operator,  ///< Shapes or types differ.
  operator_only,    ///< In another module or phase.
  kernels,          ///< The same kernels, of which one side recorded no operators.
  fused,            ///< A generated kernel lists these operators in its name.
  siblings,         ///< Between the same siblings of one module or phase, in the order of calls.
  /// Other operators in the same outermost operator or module; or in the same bucket, where half of
  /// its operators are the same.
  replaced,
  base_only,
  new_only,
};
inline constexpr std::size_t kAlignments = static_cast<std::size_t>(Alignment::new_only) + 1;
/// Is what the one side has something else than what the other has, in its place?
constexpr bool in_place_of(Alignment alignment) {
  return alignment == Alignment::fused || alignment == Alignment::siblings ||
         alignment == Alignment::replaced;
}
/// Stable, for JSON: "module_operator_shapes".
std::string_view to_string(Alignment alignment);

/// Rows of both profiles that are the same work. Borrows them.
struct AlignedWork {
  Alignment alignment = Alignment::module_operator_shapes;
  AnyBucket bucket;
  std::vector<const ProfileRow*> base;
  std::vector<const ProfileRow*> now;
};

/// Each row of both profiles in one of them. What is left on both sides is in_place_of() each other
/// where neither side is below 2 % of the other. O(n log n).
std::vector<AlignedWork> align(const Profile& base, const Profile& now);

}  // namespace fathom
