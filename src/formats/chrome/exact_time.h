// Microseconds written in decimal, read exactly into nanoseconds.
#pragma once

#include <cstdint>

namespace fathom {

/// A time read from decimal text: whole nanoseconds (rounded down) and what is left, in 10^-18 ns.
struct ExactTime {
  std::int64_t ns = 0;
  std::uint64_t rest = 0;  ///< 0 … 10^18 - 1; zero for numbers of at most three decimals.

  /// To the nearest nanosecond, half away from zero.
  [[nodiscard]] std::int64_t rounded() const;
};

/// Exact sum; ns saturates at the ends of its range.
ExactTime operator+(ExactTime a, ExactTime b);

enum class TimeStatus : std::uint8_t {
  ok,
  not_finite,    ///< NaN, Infinity: no time.
  out_of_range,  ///< More than 4 * 10^18 ns from zero: no time.
  malformed,     ///< No number here.
  incomplete,    ///< The text ends inside the number.
};

/// Reads the number of microseconds at `p` (which may be negative, fractional, in exponent form, or
/// quoted); `p` moves behind it. `end` as in json_scan.h.
TimeStatus read_microseconds(const char*& p, const char* end, ExactTime& time);

}  // namespace fathom
