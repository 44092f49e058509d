// A look at a process: its threads, what they wait for, and their Python stacks, without stopping
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "sample/frame_names.h"
#include "sample/native/mixed_stack.h"
#include "sample/runtime.h"
#include "sample/stack.h"
#include "sample/task.h"

namespace fathom::sample {

/// Does a thread have the GIL?
enum class GilState : std::uint8_t { none, holds, waits };

/// The native functions of a thread, and Python's among them.
struct NativeLook {
  native::MixedStack stack;
  std::string reason;  ///< Why functions are missing; empty where all are there.
};

struct ThreadLook {
  Task task;  ///< Of a Python thread whose number is not known: id 0.
  Wait wait;
  GilState gil = GilState::none;
  bool python = false;  ///< CPython knows it.
  StackState stack = StackState::unread;
  std::vector<FrameLook> frames;     ///< The innermost first.
  std::optional<NativeLook> native;  ///< Where it was asked for.
};

struct ProcessLook {
  pid_t pid = 0;
  pid_t parent = 0;
  std::vector<std::string> command;  ///< Redacted; the name alone where it has none.
  std::string python;                ///< "3.11.7"; empty where there is no CPython.
  std::string reason;                ///< Why there are no Python stacks; empty where there are.
  /// RANK and LOCAL_RANK of the environment that it was started with; unset where they are no
  /// numbers, or may not be read.
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> local_rank;
  std::vector<ThreadLook> threads;
};

/// The CPython of a process.
struct PythonOf {
  std::optional<Runtime> runtime;
  std::string reason;  ///< Why there is none, or none that may be read; empty where there is.
  bool user = true;    ///< False for a thread of the kernel.
  std::optional<Address> canary;  ///< Where Fathom's hook has written one.
};

/// Errors: as of look_at().
Result<PythonOf> python_of(pid_t pid, const Memory& memory);

/// Errors: not_found for a process that is not there, or that ended meanwhile; io for one that may
/// not be looked at. With `images` native functions are looked up, too.
Result<ProcessLook> look_at(pid_t pid, native::ImageCache* images = nullptr);

/// The process and those below it, parents before children. At most 4096. O(processes of the
/// machine).
std::vector<pid_t> process_tree(pid_t root);

/// Whether the kernel lists the children of a process.
bool lists_children();
/// Those that its threads have started and that have not been waited for; one may be missing while
/// others end. O(threads).
std::vector<pid_t> children_of(pid_t pid);
/// Those of one of its threads.
std::vector<pid_t> children_of(pid_t pid, pid_t thread);

}  // namespace fathom::sample
