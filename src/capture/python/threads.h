// The profile of each thread. All of it happens under the interpreter's lock, but for the end of a
// thread.
#pragma once

#include <atomic>

#include "capture/python/line_profile.h"
#include "capture/python/profile.h"

namespace fathom::python {

/// The profiles of a thread, of functions and of lines. When it ends, the next new one goes on with
/// them: sums need not be told apart by thread, and a program of many short threads does not grow.
struct ThreadProfile {
  Profile profile;
  LineProfile lines;
  std::atomic<bool> taken{true};
  ThreadProfile* next = nullptr;

  /// It ended in the middle of its calls, and does not go on with them.
  void abandon() {
    profile.abandon();
    lines.abandon();
  }
};

// One of each thread.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)
extern thread_local constinit ThreadProfile* this_thread;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)

/// Finds or makes one; null where there is no memory, which is counted.
ThreadProfile* profile_new_thread();

/// Null where there is no memory.
inline ThreadProfile* profiles_of_this_thread() {
  return this_thread != nullptr ? this_thread : profile_new_thread();
}
inline Profile* profile_of_this_thread() {
  ThreadProfile* const known = profiles_of_this_thread();
  return known == nullptr ? nullptr : &known->profile;
}
inline LineProfile* lines_of_this_thread() {
  ThreadProfile* const known = profiles_of_this_thread();
  return known == nullptr ? nullptr : &known->lines;
}

/// This thread is none of the program's: what it does is not recorded.
void ignore_this_thread();

/// The first of all of them.
ThreadProfile* all_profiles();
/// Calls, and lines, of threads for which there was no memory at all.
std::uint64_t calls_without_profile();

/// Before a recording of functions: what an earlier one left open, and its sums.
void forget_calls();
/// Before a recording of lines, the same.
void forget_lines();
/// In a forked child: only this thread goes on, and counts from nothing.
void forget_other_threads();

}  // namespace fathom::python
