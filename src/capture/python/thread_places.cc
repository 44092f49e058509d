// Finds the place by what lies there, and goes through the threads of the interpreter.
#include "capture/python/thread_places.h"

#include <cstring>

namespace fathom::python {

Py_tracefunc ThreadPlaces::function_of(const PyThreadState* state) const {
  Py_tracefunc function = nullptr;
  std::memcpy(&function, reinterpret_cast<const char*>(state) + place_, sizeof function);
  return function;
}

void ThreadPlaces::find() {
  constexpr std::size_t kFarthest = 32 * sizeof(void*);
  if (place_ != 0) return;
  const PyThreadState* const mine = PyThreadState_Get();
  first_ = mine;
  for (place_ = sizeof(void*); place_ < kFarthest; place_ += sizeof(void*))
    if (function_of(mine) == told_) return;
  place_ = 0;
}

int ThreadPlaces::fill_others(SetOther set, PyObject* mark) {
  if (set == nullptr || place_ == 0) return 0;
  int found = 0;
  Seen now;
  PyThreadState* const mine = PyThreadState_Get();
  PyThreadState* state = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
  for (; state != nullptr; state = PyThreadState_Next(state)) {
    if (state == first_ && function_of(state) != told_) disturbed_ = true;
    if (state == mine || function_of(state) != nullptr) continue;
    now.add(state);
    if (!seen_.holds(state)) continue;
    if (set(state, told_, mark) == 0) {
      ++found;
    } else {
      PyErr_Clear();
    }
  }
  seen_ = now;
  return found;
}

void ThreadPlaces::forked() {
  disturbed_ = false;
  first_ = is_ours_here() ? PyThreadState_Get() : nullptr;
}

bool ThreadPlaces::is_ours_here() const {
  return place_ != 0 && function_of(PyThreadState_Get()) == told_;
}

}  // namespace fathom::python
