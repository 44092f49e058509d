// What the interpreter reports of lines, put into the profile of its thread. Under the
// interpreter's lock.
#pragma once

#include "capture/python/cpython.h"
#include "capture/python/line_table.h"
#include "capture/python/threads.h"
#include "capture/python/ticks.h"

namespace fathom::python {

struct LineRecording {
  bool on = false;
  /// decide(code) -> None where its lines are not recorded, or (first line, bytes: a statement for
  /// each line, bytes: how many lines each statement has, length of a generator's code or 0).
  PyObject* decide = nullptr;
  PyObject* disable = nullptr;  ///< sys.monitoring.DISABLE.
  /// watch(tool, code, events): sys.monitoring.set_local_events, or None. Called from here, where
  /// no signal handler comes between a table and the events that fill it.
  PyObject* watch = nullptr;
  PyObject* tool = nullptr;
  PyObject* events = nullptr;
};
// One of the process.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)
extern constinit LineRecording line_recording;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)

/// Asks for the table of a code object that is new. Null where its lines are not recorded, where
/// memory does not suffice, or where an exception of the program is set: of a signal handler that
/// ran meanwhile. Then it is to be raised, and the code asked about again.
const LineTable* ask_for_table(PyObject* code);

/// The statement that a frame goes on in.
Statement statement_at(const LineTable& table, long offset);

inline const LineTable* table_of(PyObject* code) {
  const LineTable* const known = find_line_table(code);
  return known != nullptr ? known : ask_for_table(code);
}

inline void frame_begins(const LineTable& table, Statement goes_on) {
  if (LineProfile* const lines = lines_of_this_thread()) lines->enter(table, goes_on, Ticks::now());
}

inline void line_begins(PyObject* code, long line) {
  const std::uint64_t now = Ticks::now();
  if (LineProfile* const lines = lines_of_this_thread()) lines->line(code, line, now);
}

inline void frame_ends(PyObject* code) {
  const std::uint64_t now = Ticks::now();
  if (LineProfile* const lines = lines_of_this_thread()) lines->leave(code, now);
}

}  // namespace fathom::python
