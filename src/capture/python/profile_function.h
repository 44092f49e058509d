// The interpreter's profile function, before Python 3.12: each thread has a place for one.
#pragma once

#include "capture/python/cpython.h"

namespace fathom::python {

/// Listens in this thread. `mark` is what sys.getprofile() gives then.
void listen_here(PyObject* mark);
/// Listens in the other threads that were there at the call before this one, too, and that nobody
/// listens in (3.9 and later). How many there were.
int listen_elsewhere(PyObject* mark);
/// No longer listens in this thread, if it does.
void stop_listening_here();
/// Whether this thread's place is ours.
bool listens_here();
/// Whether the place of the thread that was first was found without our function.
bool listening_was_disturbed();
/// In a forked child: this thread is the first.
void listening_forked();
/// The code that a frame runs, a new reference, or null and an exception.
PyObject* code_of(PyFrameObject* frame);

}  // namespace fathom::python
