// Decimal microseconds to nanoseconds: the common form in a few steps, every other form digit by
// digit.
#include "formats/chrome/exact_time.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "formats/chrome/json_scan.h"

namespace fathom {
namespace {

constexpr std::uint64_t kRestPerNs = 1'000'000'000'000'000'000ULL;
constexpr std::int64_t kMaxExponent = 1000;
/// Times beyond this (the year 2096) are refused, so that sums and differences of two never
/// overflow.
constexpr std::uint64_t kMaxNs = 4'000'000'000'000'000'000ULL;

bool ends_number(char c) {
  return c == ',' || c == '}' || c == ']' || json::is_space(c) || c == '"' || c == '\0';
}

/// [-]digits[.digits][e[±]digits] as a decimal: 0.d1d2d3… × 10^exponent, at most 40 digits kept.
struct Decimal {
  bool negative = false;
  std::array<char, 40> digits{};
  int count = 0;
  std::int64_t exponent = 0;
};

bool scan_decimal(const char*& p, Decimal& out) {
  if (*p == '-' || *p == '+') out.negative = *p++ == '-';
  bool any = false;
  bool point = false;
  for (;; ++p) {
    if (*p == '.' && !point) {
      point = true;
    } else if (json::is_digit(*p)) {
      any = true;
      const bool leading_zero = out.count == 0 && *p == '0';
      if (!leading_zero && out.count < static_cast<int>(out.digits.size())) {
        out.digits[static_cast<std::size_t>(out.count++)] = static_cast<char>(*p - '0');
      }
      if (point ? leading_zero : !leading_zero) out.exponent += point ? -1 : 1;
    } else {
      break;
    }
  }
  if (any && (*p == 'e' || *p == 'E')) {
    ++p;
    const bool down = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    std::int64_t exponent = 0;
    if (!json::is_digit(*p)) return false;
    for (; json::is_digit(*p); ++p) exponent = std::min(exponent * 10 + (*p - '0'), kMaxExponent);
    out.exponent += down ? -exponent : exponent;
  }
  return any;
}

/// The decimal, taken as microseconds, as an exact time.
TimeStatus to_time(const Decimal& decimal, ExactTime& time) {
  const std::int64_t whole_digits = decimal.exponent + 3;  // of nanoseconds
  if (decimal.count > 0 && whole_digits > 19) {
    return TimeStatus::out_of_range;
  }
  const auto digit = [&decimal](std::int64_t i) -> std::uint64_t {
    return i >= 0 && i < decimal.count
               ? static_cast<std::uint64_t>(decimal.digits[static_cast<std::size_t>(i)])
               : 0U;
  };
  std::uint64_t ns = 0;
  for (std::int64_t i = 0; i < whole_digits; ++i) ns = ns * 10 + digit(i);
  if (ns > kMaxNs) {
    return TimeStatus::out_of_range;
  }
  std::uint64_t rest = 0;
  for (std::int64_t i = whole_digits; i < whole_digits + 18; ++i) rest = rest * 10 + digit(i);
  time.ns = static_cast<std::int64_t>(ns);
  time.rest = rest;
  if (decimal.negative) {
    time.ns = -time.ns - (rest != 0 ? 1 : 0);
    time.rest = rest != 0 ? kRestPerNs - rest : 0;
  }
  return TimeStatus::ok;
}

bool is_not_finite(const char* p) {
  if (*p == '-' || *p == '+') ++p;
  const std::string_view word(p, strnlen(p, 3));
  return word == "NaN" || word == "nan" || word == "Inf" || word == "inf";
}

TimeStatus read_any_form(const char*& p, const char* end, ExactTime& time) {
  const char* const begin = p;
  const bool quoted = *p == '"';
  if (quoted) ++p;
  if (is_not_finite(p)) {
    p = json::find_value_end(begin, end);
    return p == nullptr ? TimeStatus::incomplete : TimeStatus::not_finite;
  }
  Decimal decimal;
  const bool number = scan_decimal(p, decimal) && ends_number(*p);
  if (p >= end) return TimeStatus::incomplete;
  if (!number || (quoted && *p != '"')) {
    p = json::find_value_end(begin, end);
    return p == nullptr ? TimeStatus::incomplete : TimeStatus::malformed;
  }
  if (quoted) ++p;
  return to_time(decimal, time);
}

}  // namespace

std::int64_t ExactTime::rounded() const {
  if (rest == 0) return ns;
  const bool up = ns >= 0 ? rest >= kRestPerNs / 2 : rest > kRestPerNs / 2;
  return up ? ns + 1 : ns;
}

ExactTime operator+(ExactTime a, ExactTime b) {
  ExactTime sum;
  sum.rest = a.rest + b.rest;
  const std::int64_t carry = sum.rest >= kRestPerNs ? 1 : 0;
  if (carry != 0) sum.rest -= kRestPerNs;
  std::int64_t ns = 0;
  if (__builtin_add_overflow(a.ns, b.ns, &ns) || __builtin_add_overflow(ns, carry, &ns)) {
    return {a.ns > 0 ? INT64_MAX : INT64_MIN + 1, 0};
  }
  sum.ns = ns;
  return sum;
}

TimeStatus read_microseconds(const char*& p, const char* end, ExactTime& time) {
  // What Kineto writes: at most 15 digits (or 16 of an epoch time), at most three decimals, not
  // negative.
  const json::Digits whole = json::read_digits(p);
  if (whole.count == 0 || whole.count > 15) {
    if (whole.count < 16 || json::is_digit(p[16])) return read_any_form(p, end, time);
  }
  const char* q = p + whole.count;
  std::uint64_t ns = whole.value * 1000;
  if (*q == '.') {
    ++q;
    std::uint64_t scale = 100;
    for (int i = 0; i < 3 && json::is_digit(*q); ++i, ++q, scale /= 10)
      ns += static_cast<std::uint64_t>(*q - '0') * scale;
  }
  if (q >= end) return TimeStatus::incomplete;
  if (!ends_number(*q) || ns > kMaxNs || whole.value > kMaxNs / 1000) {
    return read_any_form(p, end, time);
  }
  p = q;
  time = {static_cast<std::int64_t>(ns), 0};
  return TimeStatus::ok;
}

}  // namespace fathom
