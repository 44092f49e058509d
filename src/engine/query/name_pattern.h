// A regular expression over names, asked once per distinct name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

/// A POSIX extended regular expression; case is ignored, and the first 4 KiB of a name are looked
/// at. Not thread-safe.
class NamePattern {
 public:
  /// Errors: invalid_argument, with what is wrong with the expression.
  static Result<NamePattern> parse(const std::string& expression);
  NamePattern(NamePattern&&) noexcept;
  NamePattern& operator=(NamePattern&&) noexcept;
  ~NamePattern();

  [[nodiscard]] bool matches(std::string_view name) const;

 private:
  struct State;
  explicit NamePattern(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom
