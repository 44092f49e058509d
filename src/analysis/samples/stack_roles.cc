// Recognises functions of Python's library that wait for something, and event loops.
#include "analysis/samples/stack_roles.h"

#include <algorithm>
#include <map>

#include "base/base_name.h"
#include "base/lock_words.h"
#include "store/recorder_file.h"

namespace fathom {
namespace {

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  for (const std::string_view end : ends) {
    if (text.ends_with(end)) return true;
  }
  return false;
}

/// How far out from the innermost function those are that belong to one wait.
constexpr int kWaitFrames = 6;

}  // namespace

std::string_view to_string(WaitClass wait) {
  constexpr std::array<std::string_view, kWaitClasses> kNames = {
      "gil", "lock", "threads", "child", "sleep", "file", "loop", "other"};
  return kNames[static_cast<std::size_t>(wait)];
}

std::string_view words_of(WaitClass wait) {
  constexpr std::array<std::string_view, kWaitClasses> kWords = {"the global interpreter lock",
                                                                 "a lock",
                                                                 "other threads",
                                                                 "a child process",
                                                                 "a time to pass (sleep)",
                                                                 "a file, pipe or socket",
                                                                 "something to do in an event loop",
                                                                 "something that is not known"};
  return kWords[static_cast<std::size_t>(wait)];
}

namespace {

/// Native functions have no line. In place of Python's functions that could not be read a name in
/// brackets stands, of no file.
bool is_python(const Trace& trace, const StackFrame& frame) {
  const std::string_view file = trace.text(frame.file);
  if (frame.line >= 0 || file.ends_with(".py") || file.starts_with("<")) return true;
  const std::string_view function = trace.text(frame.function);
  return file.empty() &&
         (function == "(stack not read)" || function == "(inner functions not read)");
}

/// Of concurrent.futures, multiprocessing.Pool, and joblib's loky.
bool is_pool_worker(std::string_view file, std::string_view function) {
  if (file.ends_with("/multiprocessing/pool.py")) return function == "worker";
  const bool futures = file.ends_with("/concurrent/futures/thread.py") ||
                       file.ends_with("/concurrent/futures/process.py") ||
                       file.ends_with("/loky/process_executor.py");
  return futures && (function == "_worker" || function == "_process_worker");
}

/// Calls in which a thread waits until others give back what they have taken.
bool is_lock_call(std::string_view function) {
  constexpr std::array<std::string_view, 9> kCalls = {
      "pthread_mutex_lock",    "pthread_mutex_timedlock",    "pthread_mutex_clocklock",
      "pthread_rwlock_rdlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_clockrdlock",
      "pthread_rwlock_wrlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock"};
  while (function.starts_with('_')) function.remove_prefix(1);
  return std::ranges::find(kCalls, function) != kCalls.end() || function == "lll_lock_wait" ||
         function == "lll_lock_wait_private";
}

/// SQLite itself, wherever it is linked into, or Python's module for it.
bool is_sqlite(std::string_view file, std::string_view function) {
  if (function.starts_with("sqlite3") || function.starts_with("pysqlite_")) return true;
  const std::string_view name = base_name(file);
  return name.starts_with("libsqlite3.") || name.starts_with("_sqlite3.");
}

/// A native library of the system's, or the kernel's own code in a process.
bool is_system_library(std::string_view file) {
  const bool system = file.starts_with("/usr/lib") || file.starts_with("/lib");
  return (system && file.find(".so") != std::string_view::npos) || file == "[vdso]";
}

/// The program or library that is CPython.
bool is_interpreter(std::string_view file) {
  const std::string_view name = base_name(file);
  const bool named = name.starts_with("python3") || name.starts_with("libpython3");
  return named && !name.ends_with(".py") && file.starts_with('/');
}

}  // namespace

bool is_library_file(std::string_view file) {
  return file.empty() || is_system_library(file) || is_interpreter(file) ||
         file.starts_with("<frozen") || file.find("/lib/python3") != std::string_view::npos ||
         file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos || is_recorder_file(file);
}

StackRoles::StackRoles(const Trace& trace) : trace_(trace) {
  const std::size_t frames = trace.stack_frames.size();
  roles_.reserve(frames);
  users_.reserve(frames);
  callbacks_.reserve(frames);
  in_loop_.reserve(frames);
  callers_.reserve(frames);
  shares_.reserve(frames);
  takes_.reserve(frames);
  python_.reserve(frames);
  below_python_.reserve(frames);
  in_pool_worker_.reserve(frames);
  in_sqlite_.reserve(frames);
  for (std::uint32_t row = 0; row < frames; ++row) {
    const StackFrame& frame = trace.stack_frames[row];
    const bool outermost = frame.parent == kNoFrame;
    const bool python = is_python(trace, frame);
    const bool sqlite = !python && is_sqlite(trace.text(frame.file), trace.text(frame.function));
    in_sqlite_.push_back(sqlite || (!outermost && in_sqlite_[frame.parent]));
    // What C code does below a function of Python, it does for that function.
    if (!outermost && !python && python_[frame.parent]) {
      add_below_python(frame.parent);
      continue;
    }
    const Role role = role_of(trace.text(frame.file), trace.text(frame.function));
    // The first of Python, behind what calls the interpreter.
    const bool first = outermost || (python && !python_[frame.parent]);
    const Role above = outermost ? Role::user : roles_[frame.parent];
    const std::uint32_t outer_user = outermost ? kNoFrame : users_[frame.parent];
    roles_.push_back(role);
    of_recorder_.push_back(first ? role == Role::recorder : of_recorder_[frame.parent]);
    python_.push_back(python || (!outermost && python_[frame.parent]));
    below_python_.push_back(false);
    in_pool_worker_.push_back(is_pool_worker(trace.text(frame.file), trace.text(frame.function)) ||
                              (!outermost && in_pool_worker_[frame.parent]));
    // What the recorder does at the start and the end of Python has one place: its first function.
    const bool own = role == Role::recorder && outer_user == kNoFrame &&
                     !is_around_threads(trace.text(frame.file));
    users_.push_back(role == Role::user || own ? row : outer_user);
    in_loop_.push_back(role == Role::loop || role == Role::loop_call ||
                       (!outermost && in_loop_[frame.parent]));
    std::uint32_t callback = outermost ? kNoFrame : callbacks_[frame.parent];
    if (above == Role::loop_call && role != Role::loop_call && !outermost) callback = row;
    // A loop within a callback is none that waits.
    callbacks_.push_back(callback);
    const Role caller = outermost ? Role::user : callers_[frame.parent];
    callers_.push_back(role == Role::selector ? caller : role);
    takes_.push_back(takes_shared_lock(frame, role));
    shares_.push_back(is_shared_lock(frame));
  }
  for (const ProcessRun& run : trace.process_runs) parents_.insert(run.parent);
  std::map<std::int64_t, std::int64_t> first;  // thread with a stack, by process
  for (const StackSample& sample : trace.stack_samples) {
    if (!python(sample.frame) || of_recorder_[sample.frame]) continue;
    const auto [at, fresh] = first.try_emplace(sample.pid, sample.tid);
    if (!fresh && at->second != sample.tid) threaded_.insert(sample.pid);
  }
}

void StackRoles::add_below_python(std::uint32_t parent) {
  roles_.push_back(roles_[parent]);
  of_recorder_.push_back(of_recorder_[parent]);
  python_.push_back(true);
  below_python_.push_back(true);
  in_pool_worker_.push_back(in_pool_worker_[parent]);
  users_.push_back(users_[parent]);
  in_loop_.push_back(in_loop_[parent]);
  callbacks_.push_back(callbacks_[parent]);
  callers_.push_back(callers_[parent]);
  takes_.push_back(takes_[parent]);
  shares_.push_back(shares_[parent]);
}

StackRoles::Role StackRoles::role_of(std::string_view file, std::string_view function) const {
  if (is_recorder_file(file)) return Role::recorder;
  if (!is_library_file(file)) return Role::user;
  if (file.ends_with("/asyncio/events.py") && ends_with_any(function, {"Handle._run", "_run"}))
    return Role::loop_call;
  if (file.find("/asyncio/") != std::string_view::npos) return Role::loop;
  if (file.ends_with("/selectors.py")) return Role::selector;
  if (file.ends_with("/threading.py")) return Role::threading;
  if (file.ends_with("/subprocess.py")) return Role::subprocess;
  if (file.ends_with("/queue.py") || file.find("/concurrent/futures/") != std::string_view::npos ||
      file.find("/multiprocessing/") != std::string_view::npos)
    return Role::queue;
  return Role::library;
}

std::uint32_t StackRoles::user_frame(std::uint32_t frame) const {
  if (frame == kNoFrame) return kNoFrame;
  if (users_[frame] != kNoFrame) return users_[frame];
  while (below_python_[frame]) frame = trace_.stack_frames[frame].parent;
  return frame;
}

/// A wait at a futex: who asked for it?
WaitClass StackRoles::lock_of(const StackSample& sample) const {
  const std::uint32_t frame = sample.frame;
  const std::string_view object = trace_.text(sample.object);
  if (object == kMutexObject && !(frame != kNoFrame && of_recorder_[frame])) return WaitClass::lock;
  if (!python(frame)) return native_lock_of(frame);
  if (object == kSharedSemaphoreObject) return takes_[frame] ? WaitClass::lock : WaitClass::threads;
  // Samples have those where a library waits, and none where Python's own locks are asked for.
  if (below_python_[frame]) return native_lock_of(frame);
  const Role innermost = roles_[frame];
  if (innermost == Role::queue || innermost == Role::recorder) return WaitClass::threads;
  if (innermost != Role::threading) {
    // No other thread of Python could hold a lock of the program: it is one of a native library.
    return threaded_.contains(sample.pid) ? WaitClass::lock : WaitClass::threads;
  }
  std::uint32_t row = frame;
  for (int depth = 0; depth < kWaitFrames && row != kNoFrame; ++depth) {
    if (roles_[row] != Role::threading) break;
    const std::string_view function = trace_.text(trace_.stack_frames[row].function);
    // A semaphore's acquire() stands on a condition.
    if (ends_with_any(function, {"acquire", "__enter__"})) return WaitClass::lock;
    row = trace_.stack_frames[row].parent;
  }
  return WaitClass::threads;
}

/// Native code waits at a futex for its own threads: for work, for their results, for their end.
/// Only the functions on its stack tell a lock from those.
WaitClass StackRoles::native_lock_of(std::uint32_t frame) const {
  for (int depth = 0; depth < kWaitFrames && frame != kNoFrame; ++depth) {
    const StackFrame& at = trace_.stack_frames[frame];
    if (is_lock_call(trace_.text(at.function))) return WaitClass::lock;
    frame = at.parent;
  }
  return WaitClass::threads;
}

bool StackRoles::is_shared_lock(const StackFrame& frame) const {
  return trace_.text(frame.file).ends_with("/multiprocessing/synchronize.py");
}

/// At a lock that processes share: a queue or pool takes one to look for work, and has nothing to
/// do meanwhile. What calls it is known already.
bool StackRoles::takes_shared_lock(const StackFrame& frame, Role role) const {
  if (!is_shared_lock(frame)) return role == Role::user || role == Role::library;
  if (!ends_with_any(trace_.text(frame.function), {"acquire", "__enter__"})) return false;
  if (frame.parent == kNoFrame) return true;
  if (shares_[frame.parent]) return takes_[frame.parent];
  const Role caller = roles_[frame.parent];
  return caller != Role::queue && caller != Role::recorder;
}

bool StackRoles::waits_for_disk(const StackSample& sample) const {
  return trace_.text(sample.cause) == "sync";
}

bool StackRoles::in_sync_call(std::uint32_t frame) const {
  if (frame == kNoFrame || trace_.stack_frames[frame].line >= 0) return false;
  constexpr std::array<std::string_view, 6> kCalls = {"fsync", "fdatasync",       "msync",
                                                      "sync",  "sync_file_range", "syncfs"};
  const StackFrame& at = trace_.stack_frames[frame];
  const bool system = is_system_library(trace_.text(at.file));
  return system && std::ranges::find(kCalls, trace_.text(at.function)) != kCalls.end();
}

WaitClass StackRoles::wait_of(const StackSample& sample) const {
  const std::string_view cause = trace_.text(sample.cause);
  if (cause == "gil") return WaitClass::gil;
  if (cause == "lock") return lock_of(sample);
  const std::string_view object = trace_.text(sample.object);
  // Who has started a process by vfork goes on when that has begun its program.
  if (cause == "child" || object == "vfork") return WaitClass::child;
  // Such as timeout(1): who has children and waits for any signal waits for SIGCHLD.
  const bool for_signal = object == "sigsuspend" || object == "sigtimedwait" || object == "pause";
  if (for_signal && parents_.contains(sample.pid)) return WaitClass::child;
  const bool waits_in_loop = in_loop(sample.frame) && callback(sample.frame) == kNoFrame;
  const bool of_selector = cause == "poll" || cause == "sleep" || cause == "file";
  if (waits_in_loop && of_selector) return WaitClass::loop;
  // What programs without Python have an epoll set for.
  if (of_selector && object == "anon_inode:[eventpoll]" && !python(sample.frame))
    return WaitClass::loop;
  if (cause == "sleep") return WaitClass::sleep;
  if (waits_for_disk(sample)) return WaitClass::file;
  if (cause == "file" || cause == "poll") {
    // A shell reads what the command in $(...) prints; make's children hand a token back.
    if (object.starts_with("pipe:") && !python(sample.frame) && parents_.contains(sample.pid))
      return WaitClass::child;
    // Threads and processes of a pool hand their work on through pipes; the end of a child and its
    // output come through others.
    const Role caller = sample.frame == kNoFrame ? Role::user : callers_[sample.frame];
    if (caller == Role::queue) return WaitClass::threads;
    return caller == Role::subprocess ? WaitClass::child : WaitClass::file;
  }
  return WaitClass::other;
}

}  // namespace fathom
