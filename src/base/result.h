// Result<T>: a value, or an error that is a sentence for the user.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace fathom {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  ///< The request makes no sense: usage.
  not_found,         ///< A file, name or range that does not exist.
  unsupported,       ///< Recognised, but not something Fathom can do.
  corrupt,           ///< The input cannot be understood.
  io,                ///< The operating system refused.
  internal,          ///< Our own mistake.
};

/// What went wrong, for the user: says what, where, and what to do.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  /// The same error, with the place put in front: "place: message".
  [[nodiscard]] Error in(std::string_view place) && {
    message.insert(0, std::string(place) + ": ");
    return std::move(*this);
  }
};

/// A value or an Error. Test with `if (!result)`; take with `*result` or
/// `std::move(result).error()`.
template <typename T>
class [[nodiscard]] Result {
 public:
  // `return value;` and `return error;` must both read well.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return *value_or_die(); }
  const T& operator*() const& { return *const_cast<Result*>(this)->value_or_die(); }
  T&& operator*() && { return std::move(*value_or_die()); }
  T* operator->() { return value_or_die(); }
  const T* operator->() const { return const_cast<Result*>(this)->value_or_die(); }

  [[nodiscard]] const Error& error() const& {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  T* value_or_die() {
    assert(ok());
    return std::get_if<0>(&state_);
  }
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}
  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace fathom
