// libfathom_python.so: the module that the Python hook loads where the interpreter is one that it
// knows.
#include "capture/python/cpython.h"
#include "capture/python/events.h"
#include "capture/python/line_events.h"
#include "capture/python/monitoring.h"
#include "capture/python/profile_function.h"
#include "capture/python/taken.h"
#include "capture/python/taken_calls.h"
#include "capture/python/taken_lines.h"
#include "capture/python/taken_parts.h"
#include "capture/python/taken_timeline.h"
#include "capture/python/trace_function.h"
#include "capture/python/tracing_switch.h"

namespace fathom::python {
namespace {

/// Never changed by the program: what sys.getprofile() gives in threads that we listen in.
PyObject* mark = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
/// The same of sys.gettrace().
PyObject* trace_mark = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

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

void begin_all(long long bytes) {
  MemoryLimit::set(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  Ticks::choose();
}

/// What is recorded is one of the process: a sub-interpreter must not take it from the main one.
bool is_taken(bool is_on) {
  if (is_on) PyErr_SetString(PyExc_RuntimeError, "another interpreter of the process is recorded");
  return is_on;
}

/// begin(c_functions, most_bytes, missing): the clock runs, and the profiles count.
PyObject* begin(PyObject* /*module*/, PyObject* arguments) {
  if (is_taken(recording.on)) return nullptr;
  int c_functions = 0;
  long long bytes = 0;
  if (PyArg_ParseTuple(arguments, "iLO", &c_functions, &bytes, &recording.missing) == 0)
    return nullptr;
  if (!line_recording.on) begin_all(bytes);
  recording.c_functions = c_functions != 0;
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

/// listens() -> whether this thread is listened in, and the first one was all the time.
PyObject* listens(PyObject* /*module*/, PyObject* /*arguments*/) {
  return Py_BuildValue("i", static_cast<int>(listens_here() && !listening_was_disturbed()));
}

PyObject* forked(PyObject* /*module*/, PyObject* /*arguments*/) {
  forget_other_threads();
  listening_forked();
  tracing_forked();
  return none();
}

PyObject* label_of(const void* label) {
  return label == nullptr ? &_Py_NoneStruct : static_cast<PyObject*>(const_cast<void*>(label));
}

/// take(part_ends) -> (edges, functions) of the parts that ended since the last time, or since
/// begin(); with part_ends one ends here:
///   edges      [(label of the caller, label, calls, recursive, self_ns, total_ns), …]
///   functions  [(label, recursive, total_ns), …], once for each thread that called it
/// A label is a code object, a text, or None for what memory did not suffice for; of a caller ""
/// for nobody.
PyObject* take(PyObject* /*module*/, PyObject* arguments) {
  int part_ends = 0;
  if (PyArg_ParseTuple(arguments, "i", &part_ends) == 0) return nullptr;
  Taken taken;
  // Copied first: making objects may run the program's code, which changes the same profiles.
  if (!taken.copy(part_ends != 0)) return PyErr_NoMemory();
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

/// losses(part_ends) -> (calls that memory did not suffice for, ends of calls that were not open),
/// of what take(part_ends) gives next.
PyObject* losses(PyObject* /*module*/, PyObject* arguments) {
  int part_ends = 0;
  if (PyArg_ParseTuple(arguments, "i", &part_ends) == 0) return nullptr;
  unsigned long long lost = calls_without_profile();
  unsigned long long unmatched = 0;
  for (const ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    const Profile& profile = each->profile;
    lost += part_ends != 0 ? profile.lost_calls() : profile.folded_lost_calls();
    unmatched += each->profile.unmatched();
  }
  return Py_BuildValue("(KK)", lost, unmatched);
}

template <typename Row>
PyObject* part_of() {
  TakenPart<Row> part;
  take_part(part);
  PyObject* const bytes =
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(part.rows),
                                static_cast<std::intptr_t>(part.count * sizeof(Row)));
  if (bytes == nullptr) return nullptr;
  return Py_BuildValue("(NK)", bytes, static_cast<unsigned long long>(part.lost));
}

/// part() -> (bytes: FunctionPartRow after FunctionPartRow, rows that there was no memory for)
/// since the last time, or since begin(). What take() gives is not less for it.
PyObject* part(PyObject* /*module*/, PyObject* /*arguments*/) { return part_of<FunctionPartRow>(); }

/// line_part() -> the same of LinePartRow, and take_lines().
PyObject* line_part(PyObject* /*module*/, PyObject* /*arguments*/) {
  return part_of<LinePartRow>();
}

/// begin_calls(least_ns): calls of that long or longer are kept one by one.
PyObject* begin_calls(PyObject* /*module*/, PyObject* arguments) {
  long long least_ns = 0;
  if (PyArg_ParseTuple(arguments, "L", &least_ns) == 0) return nullptr;
  if (recording.on) python::begin_calls(least_ns);
  return none();
}

/// take_calls(ends) -> (bytes: TakenCall after TakenCall, calls that there was no room for) since
/// the last time; with `ends` those that are open, too, and no more are kept.
PyObject* take_calls(PyObject* /*module*/, PyObject* arguments) {
  int ends = 0;
  if (PyArg_ParseTuple(arguments, "i", &ends) == 0) return nullptr;
  TakenCalls taken;
  if (!taken.copy(ends != 0)) return PyErr_NoMemory();
  PyObject* const bytes =
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(taken.calls),
                                static_cast<std::intptr_t>(taken.count * sizeof(TakenCall)));
  if (bytes == nullptr) return nullptr;
  return Py_BuildValue("(NK)", bytes, static_cast<unsigned long long>(taken.lost));
}

/// label_at(address) -> the label of a row of part().
PyObject* label_at(PyObject* /*module*/, PyObject* arguments) {
  unsigned long long address = 0;
  if (PyArg_ParseTuple(arguments, "K", &address) == 0) return nullptr;
  // It went through Python as a number.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  PyObject* const label = label_of(reinterpret_cast<const void*>(address));
  Py_IncRef(label);
  return label;
}

/// begin_lines(decide, most_bytes, f_trace_lines, disable, watch, tool, events): f_trace_lines is
/// None from 3.12 on, what follows before.
PyObject* begin_lines(PyObject* /*module*/, PyObject* arguments) {
  if (is_taken(line_recording.on)) return nullptr;
  long long bytes = 0;
  PyObject* decide = nullptr;
  PyObject* trace_lines = nullptr;
  PyObject* disable = nullptr;
  PyObject* watch = nullptr;
  PyObject* tool = nullptr;
  PyObject* events = nullptr;
  if (PyArg_ParseTuple(arguments, "OLOOOOO", &decide, &bytes, &trace_lines, &disable, &watch, &tool,
                       &events) == 0)
    return nullptr;
  if (!recording.on) begin_all(bytes);
  // They stay: a callback may run while another thread ends the recording.
  for (PyObject* const kept : {decide, disable, watch, tool, events}) Py_IncRef(kept);
  line_recording.decide = decide;
  line_recording.disable = disable;
  line_recording.watch = watch;
  line_recording.tool = tool;
  line_recording.events = events;
  if (trace_lines != &_Py_NoneStruct) find_trace_lines(trace_lines);
  forget_lines();
  trace_again();
  line_recording.on = true;
  return none();
}

PyObject* end_lines(PyObject* /*module*/, PyObject* /*arguments*/) {
  line_recording.on = false;
  stop_tracing_here();
  return none();
}

PyObject* callbacks_of_lines(PyObject* /*module*/, PyObject* /*arguments*/) {
  return line_callbacks();
}

/// trace(mark, frame): listens in this thread; `frame` is what runs there, or None.
PyObject* trace(PyObject* /*module*/, PyObject* arguments) {
  PyObject* frame = nullptr;
  if (PyArg_ParseTuple(arguments, "OO", &trace_mark, &frame) == 0) return nullptr;
  Py_IncRef(trace_mark);
  trace_here(trace_mark);
  if (frame != &_Py_NoneStruct && !trace_frame(reinterpret_cast<PyFrameObject*>(frame)))
    return nullptr;
  return none();
}

PyObject* trace_others(PyObject* /*module*/, PyObject* /*arguments*/) {
  return Py_BuildValue("i", trace_mark == nullptr ? 0 : trace_elsewhere(trace_mark));
}

/// traces() -> the same of lines.
PyObject* traces(PyObject* /*module*/, PyObject* /*arguments*/) {
  return Py_BuildValue("i", static_cast<int>(traces_here() && !tracing_was_disturbed()));
}

/// trace_all(): the program loaded greenlet, and no code is left out from now on.
PyObject* trace_all(PyObject* /*module*/, PyObject* /*arguments*/) {
  // A greenlet goes on with the tracing of the one that it was switched from.
  give_up_switching("the program loaded greenlet");
  return none();
}

/// why_all() -> why libraries are traced, too; "" while they are not.
PyObject* why_all(PyObject* /*module*/, PyObject* /*arguments*/) {
  return Py_BuildValue("s", why_all_is_traced());
}

/// watches(code) -> whether its lines are recorded: memory did not suffice for those of all code.
PyObject* watches(PyObject* /*module*/, PyObject* arguments) {
  PyObject* code = nullptr;
  if (PyArg_ParseTuple(arguments, "O", &code) == 0) return nullptr;
  return Py_BuildValue("i", static_cast<int>(find_line_table(code) != nullptr));
}

/// watch(code) -> whether its lines are recorded from now on, wherever it was called before.
PyObject* watch(PyObject* /*module*/, PyObject* arguments) {
  PyObject* code = nullptr;
  if (PyArg_ParseTuple(arguments, "O", &code) == 0) return nullptr;
  const bool watched = line_recording.on && table_of(code) != nullptr;
  if (PyErr_Occurred() != nullptr) return nullptr;
  if (watched) no_longer_left_out(code);
  return Py_BuildValue("i", static_cast<int>(watched));
}

/// take_lines(part_ends) -> [(code, statement, hits, self_ns, total_ns), …] of the parts that ended
/// since the last time, or since begin_lines(), once for each thread; with part_ends one ends here.
PyObject* take_lines(PyObject* /*module*/, PyObject* arguments) {
  int part_ends = 0;
  if (PyArg_ParseTuple(arguments, "i", &part_ends) == 0) return nullptr;
  TakenLines taken;
  if (!taken.copy(part_ends != 0)) return PyErr_NoMemory();
  PyObject* const lines = PyList_New(static_cast<std::intptr_t>(taken.count));
  bool good = lines != nullptr;
  for (std::size_t at = 0; good && at < taken.count; ++at) {
    const TakenLine& line = taken.lines[at];
    PyObject* const item =
        Py_BuildValue("(OIKLL)", line.code, line.statement, line.hits, line.self_ns, line.total_ns);
    good = item != nullptr && PyList_SetItem(lines, static_cast<std::intptr_t>(at), item) == 0;
  }
  if (good) return lines;
  if (lines != nullptr) Py_DecRef(lines);
  return nullptr;
}

/// begin_timeline(): from now on the changes of statements are kept, too.
PyObject* begin_timeline(PyObject* /*module*/, PyObject* /*arguments*/) {
  if (line_recording.on) begin_timelines();
  return none();
}

/// take_timeline() -> (bytes: TakenRun after TakenRun, changes that there was no room for) since
/// begin_timeline(), which it ends.
PyObject* take_timeline(PyObject* /*module*/, PyObject* /*arguments*/) {
  TakenTimeline taken;
  if (!taken.copy()) return PyErr_NoMemory();
  PyObject* const bytes =
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(taken.runs),
                                static_cast<std::intptr_t>(taken.count * sizeof(TakenRun)));
  if (bytes == nullptr) return nullptr;
  return Py_BuildValue("(NK)", bytes, static_cast<unsigned long long>(taken.lost));
}

/// line_losses() -> (lines that memory did not suffice for, frames out of order), since the last
/// take_lines().
PyObject* line_losses(PyObject* /*module*/, PyObject* /*arguments*/) {
  unsigned long long lost = calls_without_profile();
  unsigned long long unmatched = 0;
  for (const ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    lost += each->lines.lost();
    unmatched += each->lines.unmatched();
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
                         {"take", take, kArguments, nullptr},
                         {"losses", losses, kArguments, nullptr},
                         {"begin_lines", begin_lines, kArguments, nullptr},
                         {"end_lines", end_lines, kNoArguments, nullptr},
                         {"line_callbacks", callbacks_of_lines, kNoArguments, nullptr},
                         {"trace", trace, kArguments, nullptr},
                         {"trace_others", trace_others, kNoArguments, nullptr},
                         {"traces", traces, kNoArguments, nullptr},
                         {"trace_all", trace_all, kNoArguments, nullptr},
                         {"why_all", why_all, kNoArguments, nullptr},
                         {"watch", watch, kArguments, nullptr},
                         {"watches", watches, kArguments, nullptr},
                         {"part", part, kNoArguments, nullptr},
                         {"line_part", line_part, kNoArguments, nullptr},
                         {"begin_calls", begin_calls, kArguments, nullptr},
                         {"take_calls", take_calls, kArguments, nullptr},
                         {"label_at", label_at, kArguments, nullptr},
                         {"take_lines", take_lines, kArguments, nullptr},
                         {"begin_timeline", begin_timeline, kNoArguments, nullptr},
                         {"take_timeline", take_timeline, kNoArguments, nullptr},
                         {"line_losses", line_losses, kNoArguments, nullptr},
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
