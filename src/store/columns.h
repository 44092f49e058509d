// Columns<Fields>: parallel columns, and a row of them, from one list of fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "store/column.h"

namespace fathom {

/// "Not recorded" in the signed 64-bit columns that document it.
inline constexpr std::int64_t kAbsent = INT64_MIN;

/// What stands for "not recorded" in a field of any type: kAbsent, Id::kNone, -1 for an int8_t, and
/// for the rest the value of T().
struct Absent {
  template <typename T>
  // NOLINTNEXTLINE(google-explicit-constructor): the default value of fields of every type.
  constexpr operator T() const {
    if constexpr (std::is_same_v<T, std::int64_t>) return kAbsent;
    if constexpr (std::is_same_v<T, std::uint32_t>) return UINT32_MAX;
    if constexpr (std::is_same_v<T, std::int8_t>) return -1;
    return T();
  }
};

/// A field as it stands in a row.
template <typename T>
using PlainField = T;

/// `Fields` as columns of equal length, and as a row with plain values, of which what is not given
/// is absent.
///
///     template <template <typename> class Of>
///     struct PointFields {
///       Of<Time> time = Absent();
///       Of<double> value = Absent();
///       static constexpr void each(auto&& visit, auto&&... of) {
///         visit(of.time...);
///         visit(of.value...);
///       }
///     };
///
/// each() visits the same field of all its arguments, rows or tables, at once.
template <template <template <typename> class> class Fields>
struct Columns : Fields<Column> {
  using Row = Fields<PlainField>;

  Columns() {
    static_assert(sizeof(Fields<Column>) == visited() * sizeof(Column<char>),
                  "each() visits every field");
  }

  void append(const Row& row) {
    Fields<Column>::each([](auto& column, const auto& cell) { column.push_back(cell); }, *this,
                         row);
  }
  void append(const Columns& rows) {
    Fields<Column>::each([](auto& column, const auto& more) { column.append(more.span()); }, *this,
                         rows);
  }
  [[nodiscard]] Row row(std::size_t at) const {
    Row row;
    Fields<Column>::each([at](const auto& column, auto& cell) { cell = column[at]; }, *this, row);
    return row;
  }
  /// Forgets the rows but keeps the memory for reuse.
  void clear() {
    Fields<Column>::each([](auto& column) { column.clear(); }, *this);
  }

 private:
  static constexpr std::size_t visited() {
    std::size_t count = 0;
    const Row row{};
    Row::each([&count](const auto&) { ++count; }, row);
    return count;
  }
};

}  // namespace fathom
