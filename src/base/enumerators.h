// Counts the enumerators of an enumeration, so that a test of all of them sees one that is new.
#pragma once

#include <string_view>

namespace fathom {

namespace detail {

/// The compiler's own words for it: a value without a name is "(Type)7" in them.
template <auto kValue>
constexpr bool has_name() {
  return std::string_view(__PRETTY_FUNCTION__).find("kValue = (") == std::string_view::npos;
}

}  // namespace detail

/// How many there are. For enumerations with a fixed type whose values are 0, 1, 2, …
template <typename Enum, int kNext = 0>
constexpr int count_enumerators() {
  if constexpr (detail::has_name<static_cast<Enum>(kNext)>()) {
    return count_enumerators<Enum, kNext + 1>();
  } else {
    return kNext;
  }
}

}  // namespace fathom
