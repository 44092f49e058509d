// MixedStack: the functions of a thread, native ones and Python's in one stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sample/frame_names.h"
#include "sample/native/process_code.h"
#include "sample/native/unwind.h"
#include "sample/stack.h"

namespace fathom::sample::native {

/// How the two were put together.
enum class Join : std::uint8_t {
  native,     ///< There is no Python in it.
  joined,     ///< Python's functions stand where the interpreter's loop runs them.
  unmatched,  ///< The loop runs another number of times than Python's stack tells: they are of
              ///< different moments. The native ones are left as they are.
};

std::string_view to_string(Join join);

struct MixedStack {
  std::vector<FrameLook> frames;  ///< The innermost first.
  Join join = Join::native;
};

/// How many functions of a whole Python stack each call of the interpreter's loop runs, the
/// innermost first.
std::vector<std::size_t> evaluator_runs(std::span<const Frame> frames);

/// Which of the calls are of the interpreter's loop decides `evaluator`; `look` names the others.
/// Where native calls end before the thread's first function, Python's stack tells the rest; where
/// it does not, a mark stands there.
struct CallNames {
  std::vector<FrameLook> looks;  ///< Of each call, the innermost first.
  std::vector<bool> evaluator;
  bool whole = false;
  [[nodiscard]] std::size_t loops() const;  ///< Calls of the interpreter's loop.
};
CallNames names_of(const Calls& calls, ProcessCode& code);

/// Whether they tell more than that the interpreter waits: one is of another file than its own and
/// the C library.
bool tells_more(const CallNames& calls);

MixedStack mix(const CallNames& calls, std::span<const FrameLook> python,
               std::span<const std::size_t> runs);

/// The same without the interpreter's own functions and those that start it, so that a stack of a
/// thread that runs begins as one of a thread that waits, of which Python's functions alone are
/// known: what Python's functions call, and what stands between them or calls the first of them in
/// other files. Where the native calls end before the loop that runs the innermost of Python, they
/// stand below that one: it has called them. Where the two contradict each other, Python's
/// functions alone.
MixedStack below_python(const CallNames& calls, std::span<const FrameLook> python,
                        std::span<const std::size_t> runs);

}  // namespace fathom::sample::native
