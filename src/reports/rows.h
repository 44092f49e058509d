// What a report computes: rows of a type of its own, from which columns read their values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/column.h"
#include "reports/table.h"
#include "store/trace.h"

namespace fathom {

/// What rows share when they share nothing.
struct Nothing {};

/// Rows in the order computed, cheap to make and small: what a cell says is worked out by its
/// column, for the cells that are shown or compared. They may borrow from the Context's trace and
/// analyses.
template <typename RowType, typename SharedType = Nothing>
struct ReportRows {
  using Row = RowType;
  using Shared = SharedType;
  using Column = BoundColumn<Row, Shared>;

  std::vector<Row> rows = {};
  Shared shared = {};
  std::vector<std::string> notes = {};  ///< Sentences: what was assumed, what abstains and why.
  /// The rows as text shows them when nothing else is asked for: what says nothing left out, what
  /// belongs together on one line. Empty: all rows.
  std::vector<Row> brief = {};
};

/// Rows whose type only the report knows: cell by cell.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;

  [[nodiscard]] virtual std::size_t rows() const = 0;
  /// `column` counts the columns of the report. Text may be borrowed from this, from the trace or
  /// from its analyses.
  [[nodiscard]] virtual Cell cell(std::size_t row, std::size_t column) const = 0;
};

/// What Report::compute returns. Borrows from the context, which must outlive it.
struct Computed {
  std::unique_ptr<const RowSource> source;  ///< Not null.
  std::vector<std::string> notes;           ///< See ReportRows.
  Table brief;                              ///< See ReportRows; all columns of the report.
};

/// Rows of a source in some order: its first ones as computed, or those of a list.
class RowChoice {
 public:
  explicit RowChoice(std::size_t first) : size_(first) {}
  explicit RowChoice(std::vector<std::uint32_t> rows)
      : size_(rows.size()), rows_(std::move(rows)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint32_t operator[](std::size_t place) const {
    return rows_.empty() ? static_cast<std::uint32_t>(place) : rows_[place];
  }
  /// Leaves the first `size` of at least as many.
  void cut(std::size_t size) { size_ = size; }

 private:
  std::size_t size_;
  std::vector<std::uint32_t> rows_;  // empty: 0, 1, 2, …
};

/// Those rows of the source, those columns: `columns` are places among the report's `specs`.
Table materialise(const RowSource& source, std::span<const ColumnSpec> specs,
                  std::span<const std::size_t> columns, const RowChoice& rows);
/// All of it.
Table materialise(const RowSource& source, std::span<const ColumnSpec> specs);

/// Unset for kAbsent.
inline std::optional<std::int64_t> int_or_null(std::int64_t number) {
  return number == kAbsent ? std::nullopt : std::optional(number);
}
/// Unset for an empty text. Borrows.
inline std::optional<std::string_view> text_or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
inline std::optional<std::string> made_or_null(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// `part` of `whole` as 0…100; unset when the whole is 0.
inline std::optional<double> percent_of(double part, double whole) {
  return whole == 0 ? std::nullopt : std::optional(100.0 * part / whole);
}
inline std::optional<double> percent_of(Duration part, Duration whole) {
  return percent_of(static_cast<double>(to_ns(part)), static_cast<double>(to_ns(whole)));
}

}  // namespace fathom
