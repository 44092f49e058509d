// Small helpers to write rows: values from numbers, and absent values as null.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "reports/report.h"

namespace fathom {

inline Value text_value(std::string_view text) { return Value(std::string(text)); }
/// Null for an empty text.
inline Value text_or_null(std::string_view text) {
  return text.empty() ? Value() : text_value(text);
}

template <std::integral Integer>
Value int_value(Integer number) {
  return Value(static_cast<std::int64_t>(number));
}
/// Null for kAbsent.
inline Value int_or_null(std::int64_t number) {
  return number == kAbsent ? Value() : Value(number);
}

inline Value ns_value(Duration duration) { return Value(to_ns(duration)); }

/// `part` of `whole` as 0…100; null when the whole is 0.
inline Value percent_value(double part, double whole) {
  return whole == 0 ? Value() : Value(100.0 * part / whole);
}

}  // namespace fathom
