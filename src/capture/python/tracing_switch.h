// Keeps the interpreter's tracing off in frames whose lines are not recorded. While a thread has a
// trace function, CPython 3.10 and 3.11 run every instruction of it slowly, of libraries too; so a
// frame evaluation function (PEP 523) turns it on for frames of the program and off for others.
#pragma once

#include <cstddef>

#include "capture/python/cpython.h"

namespace fathom::python {

/// Begins, once the interpreter was found to be one whose fields lie as we think. Called by the
/// trace function `told` for the frame that it was called for, which runs `code`; `place` is where
/// a thread's state has the trace function. Later calls do nothing.
void begin_switching(PyFrameObject* frame, const PyObject* code, Py_tracefunc told,
                     std::size_t place);
/// Frames are evaluated as before again.
void end_switching();
/// All code is traced from now on, for good.
void give_up_switching(const char* why);
/// A recording begins: what an earlier one left untraced is traced.
void trace_again();
/// "" while tracing is switched by frame, or was not tried; else why it is not.
const char* why_all_is_traced();

}  // namespace fathom::python
