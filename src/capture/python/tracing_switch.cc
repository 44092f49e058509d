// The frame evaluation function, and what it reads of a thread's state.
#include "capture/python/tracing_switch.h"

#include <cstdint>
#include <cstdlib>
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

constexpr const char* kOther = "the program has a frame evaluation function of its own";
constexpr const char* kProfiled = "there is a profile function, which wants all calls";

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
bool resting = false;   // until our function is called again
bool profiled = false;  // for a while at least
const char* why_not = "";
PyFrameEvaluation passing = nullptr;  // another one's, which calls ours
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

bool is_traced(const PyThreadState* state) {
  return at<Py_tracefunc>(state, layout.trace) == layout.told;
}

bool is_profiled(const PyThreadState* state) {
  return at<Py_tracefunc>(state, layout.trace - sizeof(Py_tracefunc)) != nullptr;
}

/// Whether the thread is traced by us, and profiled by nobody, whose events would be lost.
bool is_ours(const PyThreadState* state) { return is_traced(state) && !is_profiled(state); }

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
  if (layout.told == nullptr) return;
  PyThreadState* state = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
  for (; state != nullptr; state = PyThreadState_Next(state)) {
    if (!is_traced(state)) continue;
    for (Evaluation* each = innermost(state); each != nullptr;
         each = at<Evaluation*>(each, layout.outer))
      *each = kTraced;
  }
}

PyFrameEvaluation present() { return late().get_evaluation(PyInterpreterState_Main()); }

void resume() {
  switching = true;
  resting = false;
  why_not = "";
}

PyObject* evaluate(PyThreadState* state, void* frame, int throws) {
  if (resting) {
    passing = present();
    resume();
  }
  if (!switching || !is_ours(state) || at<int>(state, kTracing) != 0) {
    if (switching && is_traced(state) && is_profiled(state)) profiled = true;
    return late().evaluate_frame(state, frame, throws);
  }
  if (!has_stack_left()) {
    give_up_switching("a recursion went deep, or a thread has a small stack");
    return late().evaluate_frame(state, frame, throws);
  }
  Evaluation* const around = innermost(state);
  const Evaluation before = *around;
  // The frame's evaluation begins with what the one around it has, and leaves its own there.
  *around = is_left_out(static_cast<const PyObject*>(at<const void*>(frame, kCodeOfFrame)))
                ? Evaluation{0}
                : kTraced;
  PyObject* const result = late().evaluate_frame(state, frame, throws);
  if (!switching) return result;
  const PyFrameEvaluation now = present();
  if (now != evaluate && now != passing) {
    // Somebody set it after ours. Until it calls ours, all that is open hands tracing on.
    switching = false;
    resting = true;
    why_not = kOther;
    trace_all();
  } else if (is_ours(state)) {
    *around = before;
  }
  return result;
}

/// Whether this is a released version whose fields we know, and that calls us for every frame.
bool is_known(const char* version) {
  constexpr long kFirst311 = 4;  // before, __getitem__ of a class was called without us
  if (std::strncmp(version, "3.10.", 5) != 0 && std::strncmp(version, "3.11.", 5) != 0)
    return false;
  char* end = nullptr;
  const long patch = std::strtol(version + 5, &end, 10);
  // A letter or a plus: not released, or somebody else's.
  if (end == version + 5 || *end != ' ') return false;
  return version[3] == '0' || patch >= kFirst311;
}

bool find_layout(PyFrameObject* frame, const PyObject* code, std::size_t place) {
  const char* const version = Py_GetVersion();
  if (!is_known(version)) return false;
  const bool is_311 = version[3] == '1';
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
    if (abstains) {
      why_not = "in this version of Python the recorder knows no way to leave libraries out";
      return;
    }
    layout.told = told;
  }
  const PyThreadState* const state = PyThreadState_Get();
  if (!is_ours(state)) why_not = kProfiled;
  // In the trace function itself nothing is traced.
  if (!is_ours(state) || at<int>(state, kTracing) != 1 || *innermost(state) != 0) return;
  const PyFrameEvaluation now = present();
  if (now != names.evaluate_frame && now != evaluate) {
    why_not = kOther;
    return;
  }
  names.set_evaluation(PyInterpreterState_Main(), evaluate);
  resume();
}

void end_switching() {
  if (!switching && !resting) return;
  switching = false;
  resting = false;
  // Another one may have come before ours, and calls it.
  if (present() == evaluate)
    late().set_evaluation(PyInterpreterState_Main(), late().evaluate_frame);
}

void give_up_switching(const char* why) {
  if (abstains) return;
  abstains = true;
  why_not = why;
  end_switching();
  trace_all();
}

void trace_again() {
  profiled = false;
  trace_all();
}

const char* why_all_is_traced() {
  if (*why_not != '\0') return why_not;
  return profiled ? kProfiled : "";
}

}  // namespace fathom::python
