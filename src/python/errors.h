// How a failure leaves C++: as fathom.FathomError, with its code.
#pragma once

#include <stdexcept>
#include <utility>

#include <nanobind/nanobind.h>

#include "base/result.h"

namespace fathom::python {

/// Thrown inside the binding only; Python sees fathom.FathomError.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const Error& error) : std::runtime_error(error.message), code_(error.code) {}
  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// The value, or the error as an exception. Holds the GIL when it throws, so call it with it.
template <typename T>
T value_or_raise(Result<T> result) {
  if (!result) throw Failure(result.error());
  return std::move(*result);
}

void bind_errors();

}  // namespace fathom::python
