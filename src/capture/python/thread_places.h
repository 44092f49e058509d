// The place for a profile or trace function that each thread's state has, before Python 3.12.
#pragma once

#include <cstddef>

#include "capture/python/cpython.h"

namespace fathom::python {

/// Sets the function of another thread: _PyEval_SetProfile or _PyEval_SetTrace.
using SetOther = int (*)(PyThreadState*, Py_tracefunc, PyObject*);

/// Where threads have `told`. Used under the interpreter's lock.
class ThreadPlaces {
 public:
  explicit constexpr ThreadPlaces(Py_tracefunc told) : told_(told) {}
  /// Once `told` is this thread's function.
  void find();
  /// Sets `told` in the other threads that were there at the call before this one, too, and that
  /// have no function. How many there were.
  int fill_others(SetOther set, PyObject* mark);
  /// Whether this thread's function is `told`.
  [[nodiscard]] bool is_ours_here() const;
  /// Where a thread's state has its function; 0 where it is not known.
  [[nodiscard]] std::size_t place() const { return place_; }
  /// Whether the first thread was seen without `told`, even if it has it again: a program that sets
  /// a function of its own, and then none, loses what ran meanwhile.
  [[nodiscard]] bool was_disturbed() const { return disturbed_; }
  /// In a child: this thread is the first.
  void forked();

 private:
  /// Threads without a function. One that native code begins is in the list before it is complete,
  /// so that only the second look takes it.
  class Seen {
   public:
    void add(const PyThreadState* state) {
      if (count_ < kMost) states_[count_++] = state;
    }
    [[nodiscard]] bool holds(const PyThreadState* state) const {
      for (std::size_t at = 0; at < count_; ++at)
        if (states_[at] == state) return true;
      return false;
    }

   private:
    static constexpr std::size_t kMost = 256;
    const PyThreadState* states_[kMost] = {};
    std::size_t count_ = 0;
  };

  [[nodiscard]] Py_tracefunc function_of(const PyThreadState* state) const;

  Py_tracefunc told_;
  std::size_t place_ = 0;                 ///< In a thread's state; 0 where it is not known.
  const PyThreadState* first_ = nullptr;  ///< Of the thread that `told` was set in first.
  bool disturbed_ = false;
  Seen seen_;
};

}  // namespace fathom::python
