// Functions that are written in C: which calls count, and what they are called. As in cProfile.
#pragma once

#include "capture/python/cpython.h"

namespace fathom::python {

/// What identifies the function that is called, or null where the call does not count: of types,
/// of slots, of what merely behaves like a function. `self` is the first argument, null where there
/// is none.
const PyMethodDef* definition_of(PyObject* callable, PyObject* self);

/// A new text: "<built-in method builtins.len>", "<method 'append' of 'list' objects>". Of a
/// method that is not bound, `self` is what it is called with.
struct CalledFunction {
  PyObject* callable;
  PyObject* self;
};
void* label_of_c_function(const void* definition, void* called);

/// Whether functions of C lie in memory as we think, by two that every Python has.
bool knows_c_functions(PyObject* builtin, PyObject* method);

}  // namespace fathom::python
