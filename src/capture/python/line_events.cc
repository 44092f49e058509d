// Asks Python which code objects are recorded.
#include "capture/python/line_events.h"

namespace fathom::python {
namespace {

/// Events of code without a table would be lost one by one.
void watch(PyObject* code) {
  if (line_recording.watch == &_Py_NoneStruct) return;
  PyObject* const done =
      PyObject_CallFunctionObjArgs(line_recording.watch, line_recording.tool, code,
                                   line_recording.events, static_cast<PyObject*>(nullptr));
  if (done != nullptr) {
    Py_DecRef(done);
  } else {
    PyErr_Clear();  // the program took our number, which the end of the recording notes
  }
}

const LineTable* table_from(PyObject* code, PyObject* answer) {
  long first = 0;
  PyObject* lines = nullptr;
  PyObject* lengths = nullptr;
  long offsets = 0;
  if (PyArg_ParseTuple(answer, "lSSl", &first, &lines, &lengths, &offsets) == 0) {
    PyErr_Clear();
    return nullptr;
  }
  // Of halves of words; bytes are aligned as all that is allocated.
  const auto* const of_lines = reinterpret_cast<const std::uint16_t*>(PyBytes_AsString(lines));
  const auto* const of_statements =
      reinterpret_cast<const std::uint16_t*>(PyBytes_AsString(lengths));
  const LineTable* const table =
      add_line_table(code, first, of_lines, static_cast<std::size_t>(PyBytes_Size(lines)) / 2,
                     of_statements, static_cast<std::size_t>(PyBytes_Size(lengths)) / 2,
                     offsets < 0 ? 0 : static_cast<std::size_t>(offsets));
  if (table == nullptr) return nullptr;
  Py_IncRef(code);
  watch(code);
  return table;
}

}  // namespace

Statement statement_at(const LineTable& table, long offset) {
  const auto at = static_cast<std::size_t>(offset) / 2;
  if (offset < 0 || at >= table.offsets) return 0;
  Statement& known = table.resumes[at];
  if (known == kNotMet)
    known = table.at_line(PyCode_Addr2Line(table.code, static_cast<int>(offset)));
  return known;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one of the process
constinit LineRecording line_recording;

const LineTable* ask_for_table(PyObject* code) {
  if (line_recording.decide == nullptr) return nullptr;
  PyObject* const answer =
      PyObject_CallFunctionObjArgs(line_recording.decide, code, static_cast<PyObject*>(nullptr));
  if (answer == nullptr) return nullptr;
  // Meanwhile another thread may have asked for the same.
  const LineTable* table = find_line_table(code);
  if (table == nullptr && answer != &_Py_NoneStruct) table = table_from(code, answer);
  Py_DecRef(answer);
  return table;
}

}  // namespace fathom::python
