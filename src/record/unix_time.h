// The time of day, for the manifest of a session.
#pragma once

#include <chrono>
#include <cstdint>

namespace fathom::record {

/// Nanoseconds since 1970.
inline std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace fathom::record
