// Fills the places of threads, and takes what the interpreter tells there.
#include "capture/python/profile_function.h"

#include <cstring>

#include "capture/python/events.h"
#include "capture/python/late.h"

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

/// Where a thread's state has its profile function: found once, by ours in this thread.
std::size_t place = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
constexpr std::size_t kFarthest = 32 * sizeof(void*);

Py_tracefunc function_of(const PyThreadState* state) {
  Py_tracefunc function = nullptr;
  std::memcpy(&function, reinterpret_cast<const char*>(state) + place, sizeof function);
  return function;
}

bool find_place() {
  if (place != 0) return true;
  const PyThreadState* const mine = PyThreadState_Get();
  for (place = sizeof(void*); place < kFarthest; place += sizeof(void*))
    if (function_of(mine) == told) return true;
  place = 0;
  return false;
}

/// Threads without a profile function. One that native code begins is in the list before it is
/// complete, so that only the second look takes it.
class Seen {
 public:
  void add(const PyThreadState* state) {
    if (count_ < kMost) states_[count_++] = state;
  }
  [[nodiscard]] bool holds(const PyThreadState* state) const {
    for (std::size_t at = 0; at < count_; ++at)
      if (states_[at] == state) return true;
    return false;
  }

 private:
  static constexpr std::size_t kMost = 256;
  const PyThreadState* states_[kMost] = {};
  std::size_t count_ = 0;
};
constinit Seen seen;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

PyObject* code_of(PyFrameObject* frame) {
  if (late().frame_code != nullptr) return late().frame_code(frame);
  PyObject* const code = reinterpret_cast<const OldFrame*>(frame)->code;
  Py_IncRef(code);
  return code;
}

void listen_here(PyObject* mark) {
  PyEval_SetProfile(told, mark);
  find_place();
}

int listen_elsewhere(PyObject* mark) {
  if (late().set_profile == nullptr || place == 0) return 0;
  int found = 0;
  Seen now;
  PyThreadState* const mine = PyThreadState_Get();
  PyThreadState* state = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
  for (; state != nullptr; state = PyThreadState_Next(state)) {
    if (state == mine || function_of(state) != nullptr) continue;
    now.add(state);
    if (!seen.holds(state)) continue;
    if (late().set_profile(state, told, mark) == 0) {
      ++found;
    } else {
      PyErr_Clear();
    }
  }
  seen = now;
  return found;
}

bool listens_here() { return place != 0 && function_of(PyThreadState_Get()) == told; }

void stop_listening_here() {
  if (listens_here()) PyEval_SetProfile(nullptr, nullptr);
}

}  // namespace fathom::python
