// Turns our errors into Python's exceptions.
#include "python/errors.h"

#include <array>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <nanobind/stl/string.h>

#include "base/out_of_memory.h"

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

/// Without memory even for the text, nanobind raises MemoryError by itself.
void raise_memory_error(const std::exception_ptr& exception, void* /*unused*/) {
  constexpr std::string_view kOption = "--threads 1";
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc& error) {
    std::string text = out_of_memory_text(error, "");
    if (const std::size_t at = text.find(kOption); at != std::string::npos)
      text.replace(at, kOption.size(), "threads=1");
    PyErr_SetString(PyExc_MemoryError, text.c_str());
  }
}

}  // namespace

void bind_errors() {
  nanobind::register_exception_translator(raise_failure);
  nanobind::register_exception_translator(raise_memory_error);
}

}  // namespace fathom::python
