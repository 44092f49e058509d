// What a report answers about a trace, for the tests of reports.
#pragma once

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reports/report.h"
#include "store/trace_builder.h"

namespace fathom {

/// A report's table with cells by column name.
class Answer {
 public:
  Answer(std::string_view id, const Trace& trace, std::string group_by = {},
         const Selection& selection = {})
      : Answer(id, trace, TableOptions{.group_by = std::move(group_by)}, selection) {}
  Answer(std::string_view id, const Trace& trace, TableOptions options,
         const Selection& selection = {}, const OptionValues& own = {})
      : report_(find_report(id)) {
    const Analyses analyses(trace);
    const Context context{.trace = trace,
                          .analyses = analyses,
                          .selection = selection,
                          .options = std::move(options)};
    Result<Computed> computed = compute_report(*report_, context, own);
    if (!computed) throw std::runtime_error(computed.error().message);
    table_ = materialise(*(*computed).source, report_->columns);
    brief_ = std::move((*computed).brief);
    notes_ = std::move((*computed).notes);
  }
  [[nodiscard]] std::size_t rows() const { return table_.rows(); }
  /// Text is borrowed from this.
  [[nodiscard]] Value at(std::size_t row, std::string_view column) const {
    if (row >= table_.rows()) throw std::out_of_range("row " + std::to_string(row));
    return table_.at(row, place_of(column));
  }
  /// All cells of a row, with texts of their own.
  [[nodiscard]] std::vector<Cell> row(std::size_t row) const {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < report_->columns.size(); ++i) {
      const Value value = table_.at(row, i);
      const auto* const text = std::get_if<std::string_view>(&value);
      cells.push_back(text != nullptr ? Cell(std::string(*text))
                                      : std::visit([](const auto& v) { return Cell(v); }, value));
    }
    return cells;
  }
  [[nodiscard]] std::int64_t number(std::size_t row, std::string_view column) const {
    return std::get<std::int64_t>(at(row, column));
  }
  [[nodiscard]] double real(std::size_t row, std::string_view column) const {
    return std::get<double>(at(row, column));
  }
  [[nodiscard]] std::string text(std::size_t row, std::string_view column) const {
    const Value value = at(row, column);
    const auto* const text = std::get_if<std::string_view>(&value);
    return text == nullptr ? "(null)" : std::string(*text);
  }
  [[nodiscard]] bool null(std::size_t row, std::string_view column) const {
    return is_null(at(row, column));
  }
  /// Σ of a column.
  [[nodiscard]] std::int64_t sum(std::string_view column) const {
    std::int64_t total = 0;
    for (std::size_t row = 0; row < rows(); ++row) total += number(row, column);
    return total;
  }
  /// Σ time_ns of the rows in which that column has that text.
  [[nodiscard]] std::int64_t time_where(std::string_view column, std::string_view value) const {
    std::int64_t total = 0;
    for (std::size_t row = 0; row < rows(); ++row) {
      if (text(row, column) == value) total += number(row, "time_ns");
    }
    return total;
  }
  /// The row of overview with that metric.
  [[nodiscard]] std::size_t metric(std::string_view name) const {
    for (std::size_t row = 0; row < rows(); ++row) {
      if (text(row, "metric") == name) return row;
    }
    throw std::out_of_range(std::string(name));
  }
  /// The rows for people, where they are others.
  [[nodiscard]] const Table& brief() const { return brief_; }
  /// The texts that a column has in them.
  [[nodiscard]] std::set<std::string> brief_column(std::string_view column) const {
    std::set<std::string> texts;
    for (std::size_t row = 0; row < brief_.rows(); ++row) {
      const Value value = brief_.at(row, place_of(column));
      if (const auto* const text = std::get_if<std::string_view>(&value)) texts.emplace(*text);
    }
    return texts;
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  [[nodiscard]] std::size_t place_of(std::string_view column) const {
    for (std::size_t i = 0; i < report_->columns.size(); ++i) {
      if (report_->columns[i].name == column) return i;
    }
    throw std::out_of_range(std::string(column));
  }

  const Report* report_;
  Table table_;
  Table brief_;
  std::vector<std::string> notes_;
};

}  // namespace fathom
