// Calls a function of Python, and keeps what it raises.
#include "python/called.h"

#include <chrono>

#include "base/time.h"

namespace fathom::python {
namespace {

namespace nb = nanobind;
using Steady = std::chrono::steady_clock;

double ns_since(Steady::time_point begin) {
  return static_cast<double>(to_ns(Duration(Steady::now() - begin)));
}

/// Why a call that gave this has not done its work; null where it has.
const char* not_run(nb::handle result) {
  if (nb::hasattr(result, "__await__"))
    return "the function is async: a call only makes a coroutine. Measure one that runs it, as "
           "lambda: asyncio.run(function())";
  if (nb::hasattr(result, "__anext__"))
    return "the function gives an asynchronous generator, of which a call runs nothing";
  if (PyIter_Check(result.ptr()) != 0)
    return "the function gives an iterator, of which a call runs nothing: items=True takes and "
           "times its items, items=False measures the call alone";
  return nullptr;
}

}  // namespace

bool Called::keep_error() {
  const nb::python_error error;
  raised_ = nb::borrow(error.value());
  return false;
}

bool Called::prepare() {
  if (setup_.is_none()) return true;
  PyObject* const made = PyObject_Vectorcall(setup_.ptr(), nullptr, 0, nullptr);
  if (made == nullptr) return keep_error();
  argument_ = nb::steal(made);
  return true;
}

PyObject* Called::call_once() const {
  if (!argument_.is_valid() || argument_.is_none())
    return PyObject_Vectorcall(function_.ptr(), nullptr, 0, nullptr);
  PyObject* const argument = argument_.ptr();
  return PyObject_Vectorcall(function_.ptr(), &argument, 1, nullptr);
}

bool Called::accept(PyObject* result) {
  looked_at_ = true;
  const char* const why = not_run(result);
  if (why == nullptr) return true;
  const nb::object type = nb::module_::import_("fathom._errors").attr("FathomError");
  raised_ = type(why, "invalid_argument");
  // Else Python warns of a coroutine that was never awaited.
  if (nb::hasattr(result, "close")) nb::handle(result).attr("close")();
  return false;
}

bool Called::call(std::size_t calls) {
  for (number_ = 0; number_ < calls; ++number_) {
    PyObject* const result = call_once();
    if (result == nullptr) return keep_error();
    const bool fine = looked_at_ || accept(result);
    Py_DECREF(result);
    if (!fine) return false;
  }
  return true;
}

std::optional<measure::ItemTimes> Called::call_for_items() {
  measure::ItemTimes times;
  const Steady::time_point begin = Steady::now();
  number_ = 0;
  const nb::object result = nb::steal(call_once());
  const nb::object items = nb::steal(result.is_valid() ? PyObject_GetIter(result.ptr()) : nullptr);
  if (!items.is_valid()) {
    keep_error();
    return std::nullopt;
  }
  while (PyObject* const item = PyIter_Next(items.ptr())) {
    times.at.push_back(ns_since(begin));
    Py_DECREF(item);
  }
  if (PyErr_Occurred() != nullptr) {
    keep_error();
    return std::nullopt;
  }
  times.end = ns_since(begin);
  return times;
}

}  // namespace fathom::python
