// A value of a table: null, flag, integer, real or text; and what C++ values become in a table.
#pragma once

#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/time.h"

namespace fathom {

/// Null (does not apply or was not recorded), flag, integer, real or text, as read from a table.
/// Text is borrowed.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string_view>;

/// The same as a report's column computes it: text is borrowed where it lies in the trace or in
/// the row, owned where it was made for the cell.
using Cell =
    std::variant<std::monostate, bool, std::int64_t, double, std::string_view, std::string>;

/// Borrows from `cell`.
inline Value value_of(const Cell& cell) {
  return std::visit([](const auto& value) { return Value(value); }, cell);
}

inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

inline Cell cell_of(Cell cell) { return cell; }
inline Cell cell_of(bool flag) { return flag; }
template <std::integral Integer>
requires(!std::same_as<Integer, bool>) Cell cell_of(Integer number) {
  return static_cast<std::int64_t>(number);
}
inline Cell cell_of(Duration duration) { return to_ns(duration); }
/// Null for what is no number, and for infinity.
inline Cell cell_of(double number) { return std::isfinite(number) ? Cell(number) : Cell(); }
inline Cell cell_of(std::string_view text) { return text; }
inline Cell cell_of(const char* text) { return std::string_view(text); }
inline Cell cell_of(std::string text) { return text; }
/// Null for an unset one.
template <typename T>
Cell cell_of(std::optional<T> value) {
  return value ? cell_of(*std::move(value)) : Cell();
}

}  // namespace fathom
