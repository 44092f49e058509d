// A table in memory: an array per column, texts interned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "reports/column.h"
#include "reports/text_pool.h"

namespace fathom {

/// The values of one column, of one type that follows from its kind.
struct ColumnData {
  struct Flags {
    std::vector<std::uint8_t> bytes;  ///< 0 or 1.
  };
  struct Texts {
    std::vector<TextPool::Id> ids;  ///< Into the table's pool; any at a null.
  };
  /// Of a mixed column.
  struct Mixed {
    struct Text {
      TextPool::Id id = 0;
    };
    std::vector<std::variant<std::monostate, bool, std::int64_t, double, Text>> cells;
  };
  using Values = std::variant<std::vector<std::int64_t>, std::vector<double>, Flags, Texts, Mixed>;

  Values values;  ///< At a null: 0, not-a-number, 0, any text.
  /// A bit per row, set where there is a value, least significant first; empty where nothing is
  /// null.
  std::vector<std::uint8_t> valid;
  std::size_t nulls = 0;
  std::size_t rows = 0;

  [[nodiscard]] bool is_null(std::size_t row) const {
    return nulls != 0 && (valid[row / 8] >> (row % 8) & 1U) == 0;
  }
};

/// Rows and columns of values. Owns all that it holds: it outlives the trace it is about.
///
/// Some column names mean something to every renderer:
/// `section`  first column, kind text: rows of equal section are shown together under that heading;
/// `unit`     text beside a column `value` whose rows measure different things: "ns", "bytes",
///            "percent", "count", "GB/s" or "" per row; people see the value in that unit;
/// `status`   "ok", "note", "warning", "bad", "not applicable": coloured on a terminal;
/// `edge`     a flag: text marks the first column of rows where it holds with "*", and says why;
/// `depth`    the first column is a path ("a/b/c"): text indents rows that are in a walk's order.
///
/// In a table with sections, a further column of kind text that is not null (`note`, `advice`, …)
/// is shown below or beside its row, so leave it null where there is nothing to say.
class Table {
 public:
  Table() = default;
  explicit Table(std::vector<ColumnSpec> columns);

  [[nodiscard]] const std::vector<ColumnSpec>& columns() const { return specs_; }
  [[nodiscard]] std::size_t rows() const { return data_.empty() ? 0 : data_.front().rows; }
  [[nodiscard]] bool empty() const { return rows() == 0; }
  /// Text is borrowed, until something is appended.
  [[nodiscard]] Value at(std::size_t row, std::size_t column) const;
  [[nodiscard]] const ColumnData& data(std::size_t column) const { return data_[column]; }
  [[nodiscard]] std::string_view text(TextPool::Id id) const { return texts_.text(id); }

  void reserve(std::size_t rows);
  /// Appends to one column. Every column is to get as many cells. A value that the column's kind
  /// does not hold is null; integers are reals where those are wanted.
  void append(std::size_t column, const Cell& cell);
  /// Appends a row: a cell per column.
  void append_row(std::span<const Cell> cells);
  /// Rows begin … end of `other`, whose columns are these from `first` on; appended to those.
  void append_rows(const Table& other, std::size_t begin, std::size_t end, std::size_t first = 0);

  /// Rows begin … end, without the columns before `first`.
  [[nodiscard]] Table slice(std::size_t begin, std::size_t end, std::size_t first = 0) const;

 private:
  std::vector<ColumnSpec> specs_;
  std::vector<ColumnData> data_;
  TextPool texts_;
};

}  // namespace fathom
