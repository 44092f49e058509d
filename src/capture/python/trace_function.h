// The interpreter's trace function, before Python 3.12: each thread has a place for one.
#pragma once

#include "capture/python/cpython.h"

namespace fathom::python {

/// `descriptor` is type(frame).f_trace_lines: what a frame has of it. False where it is none, or
/// lies where it cannot; then frames of libraries have line events, too.
bool find_trace_lines(PyObject* descriptor);

/// Listens in this thread. `mark` is what sys.gettrace() gives then.
void trace_here(PyObject* mark);
/// As listen_elsewhere() of the profile function.
int trace_elsewhere(PyObject* mark);
/// No longer listens in this thread, if it does.
void stop_tracing_here();
/// Whether this thread's place is ours.
bool traces_here();
/// Whether the place of the thread that was first was found without our function.
bool tracing_was_disturbed();
/// In a forked child: this thread is the first.
void tracing_forked();
/// Whether that code was asked about and its lines are not recorded.
bool is_left_out(const PyObject* code);
/// They are recorded from now on.
void no_longer_left_out(const PyObject* code);
/// A frame that is there already goes on to be recorded. False where an exception of the program is
/// set, see ask_for_table().
bool trace_frame(PyFrameObject* frame);

}  // namespace fathom::python
