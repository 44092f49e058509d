// One condition on one column of a table: "name~gemm", "total_ns>1ms".
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "reports/report.h"

namespace fathom {

/// The row of `columns` that has this name, also without its unit ("total" for "total_ns"); an
/// error names the nearest column.
Result<std::size_t> find_column(std::span<const ColumnSpec> columns, std::string_view name);

/// A parsed condition. Operators: = != < <= > >= on values, ~ !~ on text (POSIX extended regular
/// expression, case ignored). "null" compares with a missing value. Numbers may carry units (1ms,
/// 4KiB, 20%).
class Filter {
 public:
  static Result<Filter> parse(std::string_view expression, std::span<const ColumnSpec> columns);
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  [[nodiscard]] bool matches(const std::vector<Value>& row) const;

 private:
  struct State;
  explicit Filter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom
