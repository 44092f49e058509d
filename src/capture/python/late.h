// Names of CPython that not every version has, and of the C library that are in another file before
// glibc 2.34: looked for once, null where they are missing.
#pragma once

#include <cstddef>

#include <pthread.h>

#include "capture/python/cpython.h"

namespace fathom::python {

struct Late {
  PyObject* (*frame_code)(PyFrameObject*) = nullptr;  ///< PyFrame_GetCode, from 3.9.
  /// _PyEval_SetProfile, 3.9 to 3.11: of any thread.
  int (*set_profile)(PyThreadState*, Py_tracefunc, PyObject*) = nullptr;
  int (*set_trace)(PyThreadState*, Py_tracefunc, PyObject*) = nullptr;  ///< Likewise.
  PyObject* (*type_lookup)(PyTypeObject*, PyObject*) = nullptr;  ///< _PyType_Lookup, borrowed.
  /// The frame evaluation function of an interpreter, from 3.9, and the usual one.
  PyFrameEvaluation (*get_evaluation)(PyInterpreterState*) = nullptr;
  void (*set_evaluation)(PyInterpreterState*, PyFrameEvaluation) = nullptr;
  PyFrameEvaluation evaluate_frame = nullptr;
  /// pthread_getattr_np and pthread_attr_getstack.
  int (*attributes_of)(pthread_t, pthread_attr_t*) = nullptr;
  int (*stack_of)(const pthread_attr_t*, void**, std::size_t*) = nullptr;
  PyTypeObject* bound_method_of_c = nullptr;  ///< PyCMethod_Type, from 3.9.
};

const Late& late();

}  // namespace fathom::python
