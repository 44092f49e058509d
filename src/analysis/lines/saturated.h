// Sums of bytes that a damaged recording may say anything of.
#pragma once

#include <cstdint>
#include <limits>

namespace fathom {

/// The sum stays in range.
inline void add_saturated(std::int64_t& sum, std::int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum))
    sum = more > 0 ? std::numeric_limits<std::int64_t>::max()
                   : std::numeric_limits<std::int64_t>::min();
}

}  // namespace fathom
