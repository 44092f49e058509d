// Names of CPython that not every version has: looked for once, null where they are missing.
#pragma once

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
  PyTypeObject* bound_method_of_c = nullptr;  ///< PyCMethod_Type, from 3.9.
};

const Late& late();

}  // namespace fathom::python
