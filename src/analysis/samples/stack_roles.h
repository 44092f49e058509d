// StackRoles: what the functions on sampled stacks are, by their files.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Why a thread was blocked, by its system call and by the Python functions that made it.
enum class WaitClass : std::uint8_t {
  gil,      ///< Python's global interpreter lock.
  lock,     ///< A lock or semaphore that another thread or process holds.
  threads,  ///< The end of a thread, an item of a queue, an event, a result.
  child,    ///< A process.
  sleep,    ///< A time.
  file,     ///< A file, pipe or socket.
  loop,     ///< An event loop that has nothing to do.
  other,    ///< Not known.
};
inline constexpr std::size_t kWaitClasses = 8;
/// Stable, for JSON: "gil".
std::string_view to_string(WaitClass wait);
/// "the end of other threads, or for their results": behind "waits for".
std::string_view words_of(WaitClass wait);

/// Is it a file of Python's own library, of an installed package or of Fathom's hook?
bool is_library_file(std::string_view file);

/// Roles of all frames of a trace, which must outlive it. O(frames).
class StackRoles {
 public:
  explicit StackRoles(const Trace& trace);

  /// The innermost function of the program itself, else the recorder's first, else the innermost of
  /// Python, else that of all; kNoFrame where there is none.
  [[nodiscard]] std::uint32_t user_frame(std::uint32_t frame) const;
  /// Whether a function of the program itself is on the stack; false where there is none.
  [[nodiscard]] bool of_user(std::uint32_t frame) const {
    return frame != kNoFrame && users_[frame] != kNoFrame;
  }
  /// What an event loop calls at the moment: the function below its own; kNoFrame outside of loops
  /// and where the loop itself is innermost.
  [[nodiscard]] std::uint32_t callback(std::uint32_t frame) const {
    return frame == kNoFrame ? kNoFrame : callbacks_[frame];
  }
  [[nodiscard]] bool in_loop(std::uint32_t frame) const {
    return frame != kNoFrame && in_loop_[frame];
  }
  /// Whether a function of Python is on the stack; false where there is none.
  [[nodiscard]] bool python(std::uint32_t frame) const {
    return frame != kNoFrame && python_[frame];
  }
  /// Whether it is on the stack of a pool's worker: a function that takes work from a pool's queue
  /// is among the outer ones.
  [[nodiscard]] bool in_pool_worker(std::uint32_t frame) const {
    return frame != kNoFrame && in_pool_worker_[frame];
  }
  [[nodiscard]] WaitClass wait_of(const StackSample& sample) const;
  /// Whether it waits until the disk has what was written: in fsync and its like.
  [[nodiscard]] bool waits_for_disk(const StackSample& sample) const;
  /// Whether the innermost function is one of these.
  [[nodiscard]] bool in_sync_call(std::uint32_t frame) const;
  /// Whether a function of SQLite is on the stack.
  [[nodiscard]] bool in_sqlite(std::uint32_t frame) const {
    return frame != kNoFrame && in_sqlite_[frame];
  }

 private:
  enum class Role : std::uint8_t {
    user,
    library,
    recorder,  ///< Fathom's own.
    threading,
    queue,
    subprocess,
    loop,
    loop_call,
    selector
  };
  void add_below_python(std::uint32_t parent);
  [[nodiscard]] Role role_of(std::string_view file, std::string_view function) const;
  [[nodiscard]] WaitClass lock_of(const StackSample& sample) const;
  [[nodiscard]] bool is_shared_lock(const StackFrame& frame) const;
  [[nodiscard]] bool takes_shared_lock(const StackFrame& frame, Role role) const;
  [[nodiscard]] WaitClass native_lock_of(std::uint32_t frame) const;

  const Trace& trace_;
  std::vector<Role> roles_;           ///< By frame.
  std::vector<std::uint32_t> users_;  ///< Innermost function of the program from there outwards.
  std::vector<std::uint32_t> callbacks_;
  std::vector<bool> in_loop_;
  /// Whose wait it is where a selector is innermost; else the innermost's own role.
  std::vector<Role> callers_;
  std::vector<bool> shares_;  ///< A method of a lock that processes share.
  std::vector<bool> takes_;   ///< Blocked at such a lock the program wants it; else it is for work.
  std::vector<bool> python_;
  std::vector<bool> below_python_;  ///< Native code that a function of Python has called.
  std::vector<bool> in_pool_worker_;
  std::vector<bool> in_sqlite_;
  std::vector<bool> of_recorder_;    ///< The outermost function is Fathom's own.
  std::set<std::int64_t> parents_;   ///< Processes that have started others.
  std::set<std::int64_t> threaded_;  ///< Processes in which several threads of the program had
                                     ///< stacks of Python.
};

}  // namespace fathom
