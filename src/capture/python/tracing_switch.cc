// The frame evaluation function, and what it reads of a thread's state.
#include "capture/python/tracing_switch.h"

#include <cstdint>
#include <cstring>

#include <pthread.h>

#include "capture/python/late.h"
#include "capture/python/trace_function.h"

namespace fathom::python {
namespace {

// The same in 3.10 and 3.11, looked at before they are used.
constexpr std::size_t kCodeOfFrame = 32;    // of what is evaluated
constexpr std::size_t kFrameOfObject = 24;  // PyFrameObject, from 3.11 on
constexpr std::size_t kTracing = 44;  // of a thread's state: how deep it is in trace functions

/// CFrame: what lies on the stack of each evaluation. Its first byte says whether it is traced.
using Evaluation = unsigned char;
constexpr Evaluation kTraced = 255;

struct Layout {
  Py_tracefunc told = nullptr;
  std::size_t trace =
      0;  ///< Of a thread's state: its trace function. A profile function is before.
  std::size_t evaluation = 0;  ///< Of a thread's state: its innermost Evaluation.
  std::size_t outer = 0;       ///< Of an Evaluation: the one around it.
};

/// The stack of a thread. Each evaluation takes some of it; without us calls between functions of
/// Python take none from 3.11 on.
struct Stack {
  bool known = false;
  std::uintptr_t enough = 0;  ///< Below is too little left.
  std::uintptr_t top = 0;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of the process, and of a thread
constinit Layout layout;
bool abstains = false;  // for good
bool switching = false;
thread_local constinit Stack stack;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

template <typename Value>
Value at(const void* object, std::size_t offset) {
  Value value{};
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

Evaluation* innermost(const PyThreadState* state) {
  return at<Evaluation*>(state, layout.evaluation);
}

/// Whether the thread is traced by us, and profiled by nobody, whose events would be lost.
bool is_ours(const PyThreadState* state) {
  return at<Py_tracefunc>(state, layout.trace) == layout.told &&
         at<Py_tracefunc>(state, layout.trace - sizeof(Py_tracefunc)) == nullptr;
}

void look_at_stack() {
  stack.known = true;
  const Late& names = late();
  pthread_attr_t attributes;
  if (names.attributes_of == nullptr || names.stack_of == nullptr ||
      names.attributes_of(pthread_self(), &attributes) != 0)
    return;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (names.stack_of(&attributes, &lowest, &size) == 0) {
    stack.enough = reinterpret_cast<std::uintptr_t>(lowest) + size / 2;
    stack.top = reinterpret_cast<std::uintptr_t>(lowest) + size;
  }
  pthread_attr_destroy(&attributes);
}

/// False deep in a recursion, and on a stack that is none of a thread.
bool has_stack_left() {
  if (!stack.known) look_at_stack();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here > stack.enough && here < stack.top;
}

/// Every evaluation of every thread is traced again, also those that are open. Of a thread that is
/// in its trace function these are too many, and the interpreter looks how deep it is there.
void trace_all() {
  PyThreadState* state = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
  for (; state != nullptr; state = PyThreadState_Next(state)) {
    if (at<Py_tracefunc>(state, layout.trace) != layout.told) continue;
    for (Evaluation* each = innermost(state); each != nullptr;
         each = at<Evaluation*>(each, layout.outer))
      *each = kTraced;
  }
}

PyObject* evaluate(PyThreadState* state, void* frame, int throws) {
  if (!switching || !is_ours(state) || at<int>(state, kTracing) != 0)
    return late().evaluate_frame(state, frame, throws);
  if (!has_stack_left()) {
    end_switching();
    abstains = true;
    trace_all();
    return late().evaluate_frame(state, frame, throws);
  }
  Evaluation* const around = innermost(state);
  const Evaluation before = *around;
  // The frame's evaluation begins with what the one around it has, and leaves its own there.
  *around = is_left_out(static_cast<const PyObject*>(at<const void*>(frame, kCodeOfFrame)))
                ? Evaluation{0}
                : kTraced;
  PyObject* const result = late().evaluate_frame(state, frame, throws);
  if (switching && is_ours(state)) *around = before;
  return result;
}

bool find_layout(PyFrameObject* frame, const PyObject* code, std::size_t place) {
  const char* const version = Py_GetVersion();
  const bool is_311 = std::strncmp(version, "3.11.", 5) == 0;
  if (!is_311 && std::strncmp(version, "3.10.", 5) != 0) return false;
  layout.trace = place;
  layout.evaluation = place - 2 * sizeof(void*);
  layout.outer = is_311 ? 2 * sizeof(void*) : sizeof(void*);
  const void* const evaluated = is_311 ? at<const void*>(frame, kFrameOfObject) : frame;
  return at<const void*>(evaluated, kCodeOfFrame) == code;
}

}  // namespace

void begin_switching(PyFrameObject* frame, const PyObject* code, Py_tracefunc told,
                     std::size_t place) {
  if (switching || abstains || place <= kTracing) return;
  const Late& names = late();
  if (layout.told == nullptr) {
    abstains = names.evaluate_frame == nullptr || names.get_evaluation == nullptr ||
               names.set_evaluation == nullptr || !find_layout(frame, code, place);
    if (abstains) return;
    layout.told = told;
  }
  const PyThreadState* const state = PyThreadState_Get();
  // In the trace function itself nothing is traced.
  if (!is_ours(state) || at<int>(state, kTracing) != 1 || *innermost(state) != 0) return;
  PyInterpreterState* const interpreter = PyInterpreterState_Main();
  if (names.get_evaluation(interpreter) != names.evaluate_frame) return;
  names.set_evaluation(interpreter, evaluate);
  switching = true;
}

void end_switching() {
  if (!switching) return;
  switching = false;
  PyInterpreterState* const interpreter = PyInterpreterState_Main();
  // Another one may have come before ours, and calls it.
  if (late().get_evaluation(interpreter) == evaluate)
    late().set_evaluation(interpreter, late().evaluate_frame);
}

}  // namespace fathom::python
