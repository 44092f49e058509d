// A function of Python that is called again and again, and what it may not be.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include "measure/function_bench.h"

namespace fathom::python {

/// Calls with the interpreter's lock held, in a loop without Python's own.
class Called {
 public:
  Called(nanobind::object function, nanobind::object setup)
      : function_(std::move(function)), setup_(std::move(setup)) {}

  /// Before a block: calls the setup; what it gives is the argument of the calls. False where it
  /// raised.
  bool prepare();
  /// False where the function raised, or what it gave shows that calling it runs nothing.
  bool call(std::size_t calls);
  /// One call, all items of what it gave.
  std::optional<measure::ItemTimes> call_for_items();

  /// What was raised; None where nothing was.
  [[nodiscard]] nanobind::object raised() const { return raised_; }
  /// In which call of its block, from 0.
  [[nodiscard]] std::size_t call_number() const { return number_; }

 private:
  [[nodiscard]] PyObject* call_once() const;
  bool accept(PyObject* result);
  bool keep_error();

  nanobind::object function_;
  nanobind::object setup_;
  nanobind::object argument_;
  nanobind::object raised_ = nanobind::none();
  std::size_t number_ = 0;
  bool looked_at_ = false;  // what the first call gave
};

}  // namespace fathom::python
