// Fills the places of threads, and takes what the interpreter tells there.
#include "capture/python/profile_function.h"

#include "capture/python/events.h"
#include "capture/python/late.h"
#include "capture/python/thread_places.h"

namespace fathom::python {
namespace {

enum Event : int { call = 0, returned = 3, c_call = 4, c_raised = 5, c_returned = 6 };

/// What there is before PyFrame_GetCode: 3.8, and only that.
struct OldFrame {
  PyObject base;
  std::intptr_t size;
  PyFrameObject* back;
  PyObject* code;
};

int told(PyObject* /*mark*/, PyFrameObject* frame, int event, PyObject* argument) {
  if (!recording.on) return 0;
  if (event == c_call || event == c_raised || event == c_returned) {
    if (!recording.c_functions || argument == nullptr) return 0;
    // A method that is not bound comes bound.
    if (event == c_call) {
      c_function_begins(argument, nullptr);
    } else {
      c_function_ends(argument, nullptr);
    }
    return 0;
  }
  if (event != call && event != returned) return 0;
  PyObject* const code = code_of(frame);
  if (code == nullptr) return 0;
  if (event == call) {
    code_begins(code);
  } else {
    code_ends(code);
  }
  Py_DecRef(code);  // the frame and the profile hold it
  return 0;
}

constinit ThreadPlaces places(told);  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

PyObject* code_of(PyFrameObject* frame) {
  if (late().frame_code != nullptr) return late().frame_code(frame);
  PyObject* const code = reinterpret_cast<const OldFrame*>(frame)->code;
  Py_IncRef(code);
  return code;
}

void listen_here(PyObject* mark) {
  PyEval_SetProfile(told, mark);
  places.find();
}

int listen_elsewhere(PyObject* mark) { return places.fill_others(late().set_profile, mark); }

bool listens_here() { return places.is_ours_here(); }

bool listening_was_disturbed() { return places.was_disturbed(); }

void listening_forked() { places.forked(); }

void stop_listening_here() {
  if (listens_here()) PyEval_SetProfile(nullptr, nullptr);
}

}  // namespace fathom::python
