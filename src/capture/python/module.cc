// libfathom_python.so: the module that the Python hook loads where the interpreter is one that it
// knows.
#include "capture/python/cpython.h"
#include "capture/python/events.h"
#include "capture/python/monitoring.h"
#include "capture/python/profile_function.h"
#include "capture/python/taken.h"

namespace fathom::python {
namespace {

/// Never changed by the program: what sys.getprofile() gives in threads that we listen in.
PyObject* mark = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// knows(len, str.upper, frame, code) -> whether objects of this interpreter lie as we think.
PyObject* knows(PyObject* /*module*/, PyObject* arguments) {
  PyObject* builtin = nullptr;
  PyObject* method = nullptr;
  PyObject* frame = nullptr;
  PyObject* code = nullptr;
  if (PyArg_ParseTuple(arguments, "OOOO", &builtin, &method, &frame, &code) == 0) return nullptr;
  if (!knows_c_functions(builtin, method)) return Py_BuildValue("i", 0);
  PyObject* const found = code_of(reinterpret_cast<PyFrameObject*>(frame));
  if (found == nullptr) return nullptr;
  Py_DecRef(found);
  return Py_BuildValue("i", static_cast<int>(found == code));
}

/// begin(c_functions, most_bytes, missing): the clock runs, and the profiles count.
PyObject* begin(PyObject* /*module*/, PyObject* arguments) {
  int c_functions = 0;
  long long bytes = 0;
  if (PyArg_ParseTuple(arguments, "iLO", &c_functions, &bytes, &recording.missing) == 0)
    return nullptr;
  MemoryLimit::set(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  recording.c_functions = c_functions != 0;
  Ticks::choose();
  forget_calls();
  recording.on = true;
  return none();
}

PyObject* end(PyObject* /*module*/, PyObject* /*arguments*/) {
  recording.on = false;
  stop_listening_here();
  return none();
}

PyObject* callbacks(PyObject* /*module*/, PyObject* /*arguments*/) {
  return monitoring_callbacks();
}

PyObject* ignore(PyObject* /*module*/, PyObject* /*arguments*/) {
  ignore_this_thread();
  return none();
}

/// listen(mark, code): in this thread; `code` is what runs there, or None.
PyObject* listen(PyObject* /*module*/, PyObject* arguments) {
  PyObject* frame = nullptr;
  if (PyArg_ParseTuple(arguments, "OO", &mark, &frame) == 0) return nullptr;
  Py_IncRef(mark);
  listen_here(mark);
  if (frame != &_Py_NoneStruct) {
    if (PyObject* const code = code_of(reinterpret_cast<PyFrameObject*>(frame))) {
      code_begins(code);
      Py_DecRef(code);
    }
  }
  return none();
}

PyObject* listen_to_others(PyObject* /*module*/, PyObject* /*arguments*/) {
  return Py_BuildValue("i", mark == nullptr ? 0 : listen_elsewhere(mark));
}

PyObject* listens(PyObject* /*module*/, PyObject* /*arguments*/) {
  return Py_BuildValue("i", static_cast<int>(listens_here()));
}

PyObject* forked(PyObject* /*module*/, PyObject* /*arguments*/) {
  forget_other_threads();
  return none();
}

PyObject* label_of(const void* label) {
  return label == nullptr ? &_Py_NoneStruct : static_cast<PyObject*>(const_cast<void*>(label));
}

/// take() -> (edges, functions) since the last time, or since begin():
///   edges      [(label of the caller, label, calls, recursive, self_ns, total_ns), …]
///   functions  [(label, recursive, total_ns), …], once for each thread that called it
/// A label is a code object, a text, or None for what memory did not suffice for; of a caller ""
/// for nobody.
PyObject* take(PyObject* /*module*/, PyObject* /*arguments*/) {
  Taken taken;
  // Copied first: making objects may run the program's code, which changes the same profiles.
  if (!taken.copy()) return PyErr_NoMemory();
  PyObject* const nobody = PyUnicode_FromFormat("");
  PyObject* const edges = PyList_New(static_cast<std::intptr_t>(taken.edges));
  PyObject* const functions = PyList_New(static_cast<std::intptr_t>(taken.functions));
  bool good = nobody != nullptr && edges != nullptr && functions != nullptr;
  for (std::size_t at = 0; good && at < taken.edges; ++at) {
    const TakenRow& row = taken.rows[at];
    PyObject* const item =
        Py_BuildValue("(OOKKLL)", row.is_of_nobody ? nobody : label_of(row.caller),
                      label_of(row.label), row.calls, row.recursive, row.self_ns, row.total_ns);
    good = item != nullptr && PyList_SetItem(edges, static_cast<std::intptr_t>(at), item) == 0;
  }
  for (std::size_t at = 0; good && at < taken.functions; ++at) {
    const TakenRow& row = taken.rows[taken.edges + at];
    PyObject* const item = Py_BuildValue("(OKL)", label_of(row.label), row.recursive, row.total_ns);
    good = item != nullptr && PyList_SetItem(functions, static_cast<std::intptr_t>(at), item) == 0;
  }
  if (nobody != nullptr) Py_DecRef(nobody);
  if (good) return Py_BuildValue("(NN)", edges, functions);
  if (edges != nullptr) Py_DecRef(edges);
  if (functions != nullptr) Py_DecRef(functions);
  return nullptr;
}

/// losses() -> (calls that memory did not suffice for, ends of calls that were not open), since the
/// last take().
PyObject* losses(PyObject* /*module*/, PyObject* /*arguments*/) {
  unsigned long long lost = calls_without_profile();
  unsigned long long unmatched = 0;
  for (const ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    lost += each->profile.lost_calls();
    unmatched += each->profile.unmatched();
  }
  return Py_BuildValue("(KK)", lost, unmatched);
}

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): the interpreter keeps and writes
// them
PyMethodDef methods[] = {{"knows", knows, kArguments, nullptr},
                         {"begin", begin, kArguments, nullptr},
                         {"end", end, kNoArguments, nullptr},
                         {"callbacks", callbacks, kNoArguments, nullptr},
                         {"listen", listen, kArguments, nullptr},
                         {"listen_to_others", listen_to_others, kNoArguments, nullptr},
                         {"listens", listens, kNoArguments, nullptr},
                         {"ignore", ignore, kNoArguments, nullptr},
                         {"forked", forked, kNoArguments, nullptr},
                         {"take", take, kNoArguments, nullptr},
                         {"losses", losses, kNoArguments, nullptr},
                         {}};
PyModuleDef definition = {{{1, nullptr}, nullptr, 0, nullptr},
                          "fathom_python",
                          nullptr,
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace
}  // namespace fathom::python

/// What the interpreter calls when it loads the module.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" [[gnu::visibility("default")]] PyObject* PyInit_fathom_python() {
  return PyModule_Create2(&fathom::python::definition, fathom::python::kStableAbi);
}
