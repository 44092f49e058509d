// What a report answers about a trace, for the tests of reports.
#pragma once

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
      : report_(find_report(id)) {
    const Analyses analyses(trace);
    TableOptions options;
    options.group_by = std::move(group_by);
    table_ = *report_->compute(
        {.trace = trace, .analyses = analyses, .selection = selection, .options = options});
  }
  [[nodiscard]] std::size_t rows() const { return table_.rows.size(); }
  [[nodiscard]] const Value& at(std::size_t row, std::string_view column) const {
    for (std::size_t i = 0; i < report_->columns.size(); ++i) {
      if (report_->columns[i].name == column) return table_.rows.at(row).at(i);
    }
    throw std::out_of_range(std::string(column));
  }
  [[nodiscard]] std::int64_t number(std::size_t row, std::string_view column) const {
    return std::get<std::int64_t>(at(row, column));
  }
  [[nodiscard]] double real(std::size_t row, std::string_view column) const {
    return std::get<double>(at(row, column));
  }
  [[nodiscard]] std::string text(std::size_t row, std::string_view column) const {
    const auto* const text = std::get_if<std::string>(&at(row, column));
    return text == nullptr ? "(null)" : *text;
  }
  [[nodiscard]] bool null(std::size_t row, std::string_view column) const {
    return std::holds_alternative<std::monostate>(at(row, column));
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
  [[nodiscard]] const std::vector<std::vector<Value>>& brief() const { return table_.brief; }
  /// The texts that a column has in them.
  [[nodiscard]] std::set<std::string> brief_column(std::string_view column) const {
    std::set<std::string> texts;
    for (std::size_t i = 0; i < report_->columns.size(); ++i) {
      if (report_->columns[i].name != column) continue;
      for (const std::vector<Value>& row : table_.brief) {
        if (const auto* const text = std::get_if<std::string>(&row.at(i))) texts.insert(*text);
      }
    }
    return texts;
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return table_.notes; }

 private:
  const Report* report_;
  Table table_;
};

}  // namespace fathom
