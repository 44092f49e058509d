// What the interpreter tells, put into the profile of its thread. Under the interpreter's lock.
#pragma once

#include "capture/python/c_functions.h"
#include "capture/python/cpython.h"
#include "capture/python/threads.h"
#include "capture/python/ticks.h"

namespace fathom::python {

struct Recording {
  bool on = false;
  bool c_functions = false;     ///< Calls of functions that are written in C, too.
  PyObject* missing = nullptr;  ///< sys.monitoring.MISSING.
};
// One of the process.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)
extern constinit Recording recording;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)

/// The code object itself, which stays as long as the process: its address is its name.
void* label_of_code(const void* code, void* about);

inline void code_begins(PyObject* code) {
  if (Profile* const profile = profile_of_this_thread())
    profile->enter(code, code, label_of_code, Ticks::now());
}

inline void code_ends(PyObject* code) {
  const std::uint64_t now = Ticks::now();
  if (Profile* const profile = profile_of_this_thread()) profile->leave(code, now);
}

inline void c_function_begins(PyObject* callable, PyObject* self) {
  const PyMethodDef* const definition = definition_of(callable, self);
  if (definition == nullptr) return;
  CalledFunction called{callable, self};
  if (Profile* const profile = profile_of_this_thread())
    profile->enter(definition, &called, label_of_c_function, Ticks::now());
}

inline void c_function_ends(PyObject* callable, PyObject* self) {
  const std::uint64_t now = Ticks::now();
  const PyMethodDef* const definition = definition_of(callable, self);
  if (definition == nullptr) return;
  if (Profile* const profile = profile_of_this_thread()) profile->leave(definition, now);
}

}  // namespace fathom::python
