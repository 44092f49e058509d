// What threads were blocked for, and where in the program.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/samples/stack_roles.h"
#include "store/trace.h"

namespace fathom {

/// A wait of one class for one thing at one place, over all threads and processes.
struct WaitSpot {
  WaitClass wait = WaitClass::other;
  StringId object{};               ///< What was waited for; empty: not known.
  std::uint32_t frame = kNoFrame;  ///< The program's own innermost function; kNoFrame: no Python.
  StringId thread{};               ///< Of waits without Python, the thread's name.
  Duration blocked{};
  std::uint64_t threads = 0;  ///< How many threads waited so.
  std::uint64_t samples = 0;
};

/// What waits are summed by.
enum class WaitBy : std::uint8_t {
  place,   ///< By class, object, function and line.
  object,  ///< By class and object: each has the frame of its longest wait.
  cause,   ///< By class alone.
};

/// The longest first; they sum to the blocked time of all threads. O(samples · log samples).
std::vector<WaitSpot> wait_spots(const Trace& trace, const StackRoles& roles, WaitBy by);

}  // namespace fathom
