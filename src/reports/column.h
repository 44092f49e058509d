// A column of a report: what it is, and how its value is read from a row, in one declaration.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "reports/value.h"

namespace fathom {

/// What a column holds; decides how people see it. JSON and CSV always carry the raw value.
enum class ColumnKind : std::uint8_t {
  text,
  name,  ///< Text that may be shortened in the middle on a narrow terminal.
  integer,
  count,        ///< Integer shown with thousands separators.
  duration_ns,  ///< Integer nanoseconds; shown as µs, ms, s.
  time_ns,      ///< Integer nanoseconds from the start of the trace.
  bytes,        ///< Integer bytes; shown as KiB, MiB.
  real,
  percent,  ///< 0…100.
  flag,     ///< true / false.
};

struct ColumnSpec {
  std::string_view name;  ///< snake_case with the unit as suffix.
  ColumnKind kind;
  std::string_view unit;  ///< "ns", "bytes", "percent", "GB/s", or "".
  std::string_view doc;   ///< One sentence: what it is, not how it is computed.
  bool wide = false;      ///< True: left out of text output unless --wide or --columns asks for it.
  /// The --group-by choice whose rows it distinguishes, or several with spaces between: text then
  /// shows it right after the first column, also when it is wide.
  std::string_view group = {};
  /// A column of text in which rows may also hold numbers and flags, see `unit` in table.h.
  bool mixed = false;
};

constexpr bool is_text(ColumnKind kind) {
  return kind == ColumnKind::text || kind == ColumnKind::name;
}
constexpr bool is_real(ColumnKind kind) {
  return kind == ColumnKind::real || kind == ColumnKind::percent;
}

namespace detail {

template <typename T>
struct WithoutOptional {
  using type = T;
};
template <typename T>
struct WithoutOptional<std::optional<T>> {
  using type = T;
};

/// True when values of type T belong into a column of that kind.
template <typename T>
constexpr bool fits(ColumnKind kind) {
  using Plain = typename WithoutOptional<std::remove_cvref_t<T>>::type;
  if constexpr (std::same_as<Plain, Cell>) return kind == ColumnKind::text;
  if constexpr (std::same_as<Plain, bool>) return kind == ColumnKind::flag;
  if constexpr (std::same_as<Plain, Duration>)
    return kind == ColumnKind::duration_ns || kind == ColumnKind::time_ns;
  if constexpr (std::floating_point<Plain>) return is_real(kind);
  if constexpr (std::integral<Plain>)
    return !is_text(kind) && !is_real(kind) && kind != ColumnKind::flag;
  return is_text(kind);
}

/// Not constexpr: a constant that calls it does not compile.
inline void getter_does_not_fit_the_kind() {}

template <auto kWhat>
struct Through {
  template <typename... Args>
  requires std::invocable<decltype(kWhat), const Args&...>
  decltype(auto) operator()(const Args&... args) const { return std::invoke(kWhat, args...); }
};

}  // namespace detail

/// The getter of a column that is a function, or a member of the row: by<&Row::calls>.
template <auto kWhat>
inline constexpr detail::Through<kWhat> by{};

/// A column over rows of type Row, which share a Shared (what a row needs and all have in common).
/// `get` takes a row, or a row and what they share, and returns a flag, an integer, a Duration, a
/// double, text, or an optional of one of these; or a Cell, in a column of kind text whose rows
/// hold different things.
template <typename Row, typename Shared>
struct BoundColumn {
  ColumnSpec spec;
  Cell (*get)(const Row& row, const Shared& shared);

  template <typename Get>
  constexpr BoundColumn(std::string_view name, ColumnKind kind, std::string_view unit,
                        std::string_view doc, Get /*get*/, bool wide = false,
                        std::string_view group = {})
      : spec{.name = name, .kind = kind, .unit = unit, .doc = doc, .wide = wide, .group = group},
        get(call<Get>) {
    using Got = std::remove_cvref_t<decltype(got<Get>(std::declval<const Row&>(),
                                                      std::declval<const Shared&>()))>;
    if (!detail::fits<Got>(kind)) detail::getter_does_not_fit_the_kind();
    spec.mixed = std::same_as<Got, Cell>;
  }

 private:
  template <typename Get>
  static decltype(auto) got(const Row& row, const Shared& shared) {
    if constexpr (std::invocable<const Get&, const Row&>) {
      return Get{}(row);
    } else {
      return Get{}(row, shared);
    }
  }
  template <typename Get>
  static Cell call(const Row& row, const Shared& shared) {
    return cell_of(got<Get>(row, shared));
  }
};

}  // namespace fathom
