// One condition on one column of a table: "name~gemm", "total_ns>1ms".
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "reports/report.h"

namespace fathom {

/// A parsed condition. Operators: = != < <= > >= on values; ~ !~ on text, by POSIX extended regular
/// expression, case ignored, within the first 4 KiB of a text. "null" compares with a missing
/// value. Numbers may carry units (1ms, 4KiB, 20%).
class Filter {
 public:
  static Result<Filter> parse(std::string_view expression, std::span<const ColumnSpec> columns);
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  /// Which column it is about: a place among those it was parsed with.
  [[nodiscard]] std::size_t column() const;
  [[nodiscard]] bool matches(const Value& value) const;

 private:
  struct State;
  explicit Filter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom
