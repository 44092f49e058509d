// Objects that are there from their first use to the very end of the process.
#pragma once

#include <cstddef>
#include <new>

namespace fathom::inside {

/// The one of its type; made once, thread-safe, in memory of the library. The program may use the
/// SDK in its last destructors, so that there is no moment to free it.
template <typename T>
T& never_freed() {
  alignas(T) static std::byte place[sizeof(T)];
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): what it is for
  static T* const made = new (place) T;
  return *made;
}

}  // namespace fathom::inside
