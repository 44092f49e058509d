// Fills the places of threads, and takes what the interpreter tells there.
#include "capture/python/trace_function.h"

#include <cstdlib>
#include <cstring>

#include "capture/python/late.h"
#include "capture/python/line_events.h"
#include "capture/python/memory_limit.h"
#include "capture/python/profile_function.h"
#include "capture/python/thread_places.h"
#include "capture/python/tracing_switch.h"

namespace fathom::python {
namespace {

enum Event : int { call = 0, line = 2, returned = 3 };

/// Code objects whose lines are not recorded, so that Python is asked once for each.
class Unwatched {
 public:
  [[nodiscard]] bool holds(const PyObject* code) const {
    if (codes_ == nullptr) return false;
    for (std::size_t at = slot_of(code);; at = (at + 1) & (room_ - 1)) {
      if (codes_[at] == code) return true;
      if (codes_[at] == nullptr) return false;
    }
  }
  /// Keeps it, so that no other takes its address.
  void add(PyObject* code) {
    // What a code object of some size takes, which now stays.
    constexpr std::size_t kKept = 1024;
    if ((used_ + 1) * 2 > room_ && !grow()) return;
    if (!MemoryLimit::take(kKept)) return;
    Py_IncRef(code);
    put(code);
    ++used_;
  }
  /// It is recorded from now on. Its slot stays in use, for others may lie behind it.
  void remove(const PyObject* code) {
    if (codes_ == nullptr) return;
    for (std::size_t at = slot_of(code); codes_[at] != nullptr; at = (at + 1) & (room_ - 1))
      if (codes_[at] == code) codes_[at] = &_Py_NoneStruct;  // which is no code
  }

 private:
  [[nodiscard]] std::size_t slot_of(const PyObject* code) const {
    return mixed(code) & (room_ - 1);
  }
  void put(const PyObject* code) {
    std::size_t at = slot_of(code);
    while (codes_[at] != nullptr) at = (at + 1) & (room_ - 1);
    codes_[at] = code;
  }
  bool grow() {
    constexpr std::size_t kFirst = 4096;
    const std::size_t before = room_;
    const std::size_t room = before == 0 ? kFirst : before * 2;
    if (!MemoryLimit::take((room - before) * sizeof(void*))) return false;
    auto** const made = static_cast<const PyObject**>(std::calloc(room, sizeof(void*)));
    if (made == nullptr) return false;
    const PyObject** const old = codes_;
    codes_ = made;
    room_ = room;
    used_ = 0;
    for (std::size_t at = 0; at < before; ++at) {
      if (old[at] == nullptr || old[at] == &_Py_NoneStruct) continue;
      put(old[at]);
      ++used_;
    }
    std::free(static_cast<void*>(old));
    return true;
  }
  const PyObject** codes_ = nullptr;
  std::size_t room_ = 0;  // a power of two
  std::size_t used_ = 0;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): one of the process
constinit Unwatched unwatched;
std::intptr_t trace_lines = 0;  ///< Where a frame has f_trace_lines.
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

const LineTable* table_of_frame(PyFrameObject* frame, PyObject* code) {
  if (const LineTable* const known = find_line_table(code)) return known;
  if (!unwatched.holds(code)) {
    if (const LineTable* const made = ask_for_table(code)) return made;
    if (PyErr_Occurred() != nullptr) return nullptr;
    unwatched.add(code);
  }
  if (trace_lines != 0) reinterpret_cast<char*>(frame)[trace_lines] = 0;
  return nullptr;
}

/// Whether a generator's frame begins, rather than goes on.
bool is_fresh(PyFrameObject* frame, PyObject* code) {
  constexpr unsigned char kResume = 151;  // of 3.11, where the call is known by one
  PyObject* const latest = PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_lasti");
  PyObject* const bytes = PyObject_GetAttrString(code, "co_code");
  bool fresh = false;
  if (latest != nullptr && bytes != nullptr) {
    const long at = PyLong_AsLong(latest);
    fresh = at < 0;  // up to 3.10: nothing was run yet
    if (!fresh && at + 1 < PyBytes_Size(bytes)) {
      const char* const instruction = PyBytes_AsString(bytes) + at;
      // Its argument says what it comes after: 0 is the beginning.
      fresh = static_cast<unsigned char>(instruction[0]) == kResume && instruction[1] == 0;
    }
  } else {
    PyErr_Clear();
  }
  if (latest != nullptr) Py_DecRef(latest);
  if (bytes != nullptr) Py_DecRef(bytes);
  return fresh;
}

/// The statement that a frame goes on in, 0 where it begins. Only a generator's frame goes on.
Statement goes_on_in(const LineTable& table, PyFrameObject* frame, PyObject* code) {
  if (table.offsets == 0) return 0;
  // Of one that begins this is the line of its `def`.
  const Statement open = table.at_line(PyFrame_GetLineNumber(frame));
  // Where a body of several lines stands there, too, its first line would not count as a beginning.
  return table.is_long[open] && is_fresh(frame, code) ? Statement{0} : open;
}

/// Once tracing is known to work, it is kept to where it is wanted.
void keep_tracing_to_own(PyFrameObject* frame, const PyObject* code);

int told(PyObject* /*mark*/, PyFrameObject* frame, int event, PyObject* /*argument*/) {
  if (!line_recording.on) return 0;
  if (event != call && event != line && event != returned) return 0;
  PyObject* const code = code_of(frame);
  if (code == nullptr) return 0;
  bool raises = false;
  if (event == call) keep_tracing_to_own(frame, code);
  if (event == line) {
    if (find_line_table(code) != nullptr) line_begins(code, PyFrame_GetLineNumber(frame));
  } else if (event == returned) {
    if (find_line_table(code) != nullptr) frame_ends(code);
  } else if (const LineTable* const table = table_of_frame(frame, code)) {
    frame_begins(*table, goes_on_in(*table, frame, code));
  } else {
    raises = PyErr_Occurred() != nullptr;
  }
  Py_DecRef(code);  // the frame holds it
  return raises ? -1 : 0;
}

constinit ThreadPlaces places(told);  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void keep_tracing_to_own(PyFrameObject* frame, const PyObject* code) {
  begin_switching(frame, code, told, places.place());
}

}  // namespace

bool find_trace_lines(PyObject* descriptor) {
  constexpr int kBool = 14;  // T_BOOL
  constexpr std::intptr_t kFarthest = 256;
  const PyMemberDef* const member =
      reinterpret_cast<const PyMemberDescrObject*>(descriptor)->d_member;
  if (member == nullptr || member->type != kBool || member->offset <= 0 ||
      member->offset > kFarthest || std::strcmp(member->name, "f_trace_lines") != 0)
    return false;
  trace_lines = member->offset;
  return true;
}

void trace_here(PyObject* mark) {
  PyEval_SetTrace(told, mark);
  places.find();
}

int trace_elsewhere(PyObject* mark) { return places.fill_others(late().set_trace, mark); }

bool traces_here() { return places.is_ours_here(); }

bool is_left_out(const PyObject* code) { return unwatched.holds(code); }

void no_longer_left_out(const PyObject* code) { unwatched.remove(code); }

bool tracing_was_disturbed() { return places.was_disturbed(); }

void tracing_forked() { places.forked(); }

void stop_tracing_here() {
  end_switching();
  if (traces_here()) PyEval_SetTrace(nullptr, nullptr);
}

bool trace_frame(PyFrameObject* frame) { return told(nullptr, frame, call, nullptr) == 0; }

}  // namespace fathom::python
