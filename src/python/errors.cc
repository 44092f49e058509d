// Tells Python's exception from our error.
#include "python/errors.h"

#include <array>
#include <exception>
#include <string>

#include <nanobind/stl/string.h>

namespace fathom::python {
namespace {

/// As the enumerators are called.
const char* name_of(ErrorCode code) {
  constexpr std::array<const char*, 6> kNames = {"invalid_argument", "not_found", "unsupported",
                                                 "corrupt",          "io",        "internal"};
  static_assert(kNames.size() == static_cast<std::size_t>(ErrorCode::internal) + 1,
                "one name for each ErrorCode");
  return kNames[static_cast<std::size_t>(code)];
}

/// An engine's message that begins with an option of the command line, "--group-by: …", begins with
/// the argument of that name in Python: "group_by: …".
std::string as_argument(std::string message) {
  if (!message.starts_with("--")) return message;
  message.erase(0, 2);
  for (char& c : message) {
    if (c == ':' || c == ' ') break;
    if (c == '-') c = '_';
  }
  return message;
}

void raise_failure(const std::exception_ptr& exception, void* /*unused*/) {
  try {
    std::rethrow_exception(exception);
  } catch (const Failure& failure) {
    const nanobind::object type = nanobind::module_::import_("fathom._errors").attr("FathomError");
    const nanobind::object value = type(as_argument(failure.what()), name_of(failure.code()));
    PyErr_SetObject(type.ptr(), value.ptr());
  }
}

}  // namespace

void bind_errors() { nanobind::register_exception_translator(raise_failure); }

}  // namespace fathom::python
