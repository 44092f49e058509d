// Callables without any of the interpreter's wrapping: it calls their function as it stands.
#include "capture/python/monitoring.h"

#include <initializer_list>

#include "capture/python/events.h"
#include "capture/python/line_events.h"

namespace fathom::python {
namespace {

using Vectorcall = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);

struct Callback {
  PyObject base;
  Vectorcall call;
};

/// A bit of the count says that the place before the arguments may be written to.
std::size_t count_of(std::size_t arguments) {
  constexpr std::size_t kOffset = ~(~std::size_t{0} >> 1U);
  return arguments & ~kOffset;
}

// All return None, which is immortal in these versions, but for what start() says of itself.

PyObject* enter(PyObject* /*self*/, PyObject* const* arguments, std::size_t count,
                PyObject* /*names*/) {
  if (recording.on && count_of(count) > 0) code_begins(arguments[0]);
  return &_Py_NoneStruct;
}

PyObject* leave(PyObject* /*self*/, PyObject* const* arguments, std::size_t count,
                PyObject* /*names*/) {
  if (recording.on && count_of(count) > 0) code_ends(arguments[0]);
  return &_Py_NoneStruct;
}

/// Of code, offset, callable, first argument: the last may be MISSING.
PyObject* self_of(PyObject* const* arguments) {
  return arguments[3] == recording.missing ? nullptr : arguments[3];
}

PyObject* enter_c(PyObject* /*self*/, PyObject* const* arguments, std::size_t count,
                  PyObject* /*names*/) {
  if (recording.on && count_of(count) == 4) c_function_begins(arguments[2], self_of(arguments));
  return &_Py_NoneStruct;
}

PyObject* leave_c(PyObject* /*self*/, PyObject* const* arguments, std::size_t count,
                  PyObject* /*names*/) {
  if (recording.on && count_of(count) == 4) c_function_ends(arguments[2], self_of(arguments));
  return &_Py_NoneStruct;
}

/// Once for code whose lines are not recorded: it is not heard of again. Raises what a signal
/// handler of the program raised meanwhile.
PyObject* start(PyObject* /*self*/, PyObject* const* arguments, std::size_t count,
                PyObject* /*names*/) {
  if (!line_recording.on || count_of(count) == 0) return &_Py_NoneStruct;
  const LineTable* const table = table_of(arguments[0]);
  if (table == nullptr) {
    if (PyErr_Occurred() != nullptr) return nullptr;
    Py_IncRef(line_recording.disable);
    return line_recording.disable;
  }
  frame_begins(*table, 0);
  return &_Py_NoneStruct;
}

PyObject* resume(PyObject* /*self*/, PyObject* const* arguments, std::size_t count,
                 PyObject* /*names*/) {
  if (!line_recording.on || count_of(count) < 2) return &_Py_NoneStruct;
  // Exceptions are reported of all code.
  if (const LineTable* const table = find_line_table(arguments[0]))
    frame_begins(*table, statement_at(*table, PyLong_AsLong(arguments[1])));
  return &_Py_NoneStruct;
}

PyObject* leave_frame(PyObject* /*self*/, PyObject* const* arguments, std::size_t count,
                      PyObject* /*names*/) {
  if (line_recording.on && count_of(count) > 0) frame_ends(arguments[0]);
  return &_Py_NoneStruct;
}

PyObject* unwind_frame(PyObject* /*self*/, PyObject* const* arguments, std::size_t count,
                       PyObject* /*names*/) {
  if (line_recording.on && count_of(count) > 0 && find_line_table(arguments[0]) != nullptr)
    frame_ends(arguments[0]);
  return &_Py_NoneStruct;
}

PyObject* line(PyObject* /*self*/, PyObject* const* arguments, std::size_t count,
               PyObject* /*names*/) {
  if (line_recording.on && count_of(count) == 2)
    line_begins(arguments[0], PyLong_AsLong(arguments[1]));
  return &_Py_NoneStruct;
}

PyTypeObject* make_type() {
  constexpr int kCall = 50;                    // Py_tp_call
  constexpr int kMembers = 72;                 // Py_tp_members
  constexpr int kSize = 19;                    // T_PYSSIZET
  constexpr unsigned kVectorcall = 1U << 11U;  // Py_TPFLAGS_HAVE_VECTORCALL
  constexpr unsigned kFinal = 1U << 7U;        // Py_TPFLAGS_DISALLOW_INSTANTIATION
  // Both stay: the interpreter keeps pointers to members.
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", kSize, offsetof(Callback, call), 1, nullptr}, {}};
  static PyType_Slot slots[] = {
      {kCall, reinterpret_cast<void*>(PyVectorcall_Call)}, {kMembers, members}, {}};
  static PyType_Spec spec = {"fathom_python.callback", sizeof(Callback), 0, kVectorcall | kFinal,
                             slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

PyObject* make(PyTypeObject* type, Vectorcall function) {
  PyObject* const made = _PyObject_New(type);
  if (made != nullptr) reinterpret_cast<Callback*>(made)->call = function;
  return made;
}

/// A list of callables.
PyObject* callables(std::initializer_list<Vectorcall> functions) {
  PyTypeObject* const type = make_type();
  PyObject* const made = type == nullptr ? nullptr : PyList_New(0);
  if (made == nullptr) return nullptr;
  for (const Vectorcall function : functions) {
    PyObject* const each = make(type, function);
    if (each == nullptr || PyList_Append(made, each) != 0) return nullptr;
    Py_DecRef(each);
  }
  return made;
}

}  // namespace

PyObject* monitoring_callbacks() { return callables({enter, leave, enter_c, leave_c}); }

PyObject* line_callbacks() { return callables({start, resume, leave_frame, unwind_frame, line}); }

}  // namespace fathom::python
