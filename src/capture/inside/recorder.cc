// The recorder of this process: starts, takes events, and stops.
#include "capture/inside/recorder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <sys/prctl.h>
#include <unistd.h>

#include "capture/inside/attempt.h"
#include "capture/inside/capture_file.h"
#include "capture/inside/crash.h"
#include "capture/inside/inside_guard.h"
#include "capture/inside/leave.h"
#include "capture/inside/text_table.h"

namespace fathom::detail {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): all that the inline parts share
constinit std::atomic<std::uint32_t> mode{kRecording | kWatching};
__thread Buffer* thread_buffer = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

Buffer* make_room(int events) noexcept { return inside::Recorder::get().make_room(events); }

}  // namespace fathom::detail

namespace fathom::inside {
namespace {

/// Full chunks of all threads that are worth waking our thread for.
constexpr std::size_t kManyChunks = 16;
constexpr std::size_t kManyThreads = 64;

/// Empty where it is called like the program, as all threads are that were not named.
std::string given_name() {
  constexpr std::size_t kLongest = 16;
  char name[kLongest + 1] = {};
  if (prctl(PR_GET_NAME, name) != 0) return {};
  const std::string_view program(program_invocation_short_name);
  return program.substr(0, kLongest - 1) == name ? std::string() : std::string(name);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): for the end of the program
constinit std::atomic<Recorder*> the_recorder{nullptr};

/// At the latest before the program's own static initialisers, while there are no other threads: a
/// child that is forked while another thread still makes the recorder would wait for that thread
/// forever, as it does not have it.
constexpr int kFirst = 101;
[[gnu::constructor(kFirst)]] void make_early() { Recorder::get(); }

}  // namespace

/// The only place where one is made. Never destroyed: threads may outlive everything. Not by new,
/// which the program may have replaced and annotated.
Recorder& Recorder::get() noexcept {
  alignas(Recorder) static std::byte place[sizeof(Recorder)];
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static Recorder& made = *new (place) Recorder;
  return made;
}

Recorder* Recorder::if_made() noexcept { return the_recorder; }

Recorder::Recorder() noexcept {
  the_recorder = this;
  sem_init(&work_, 0, 0);
  pthread_key_t key{};
  const auto end = [](void* log) { Recorder::get().end_thread(static_cast<ThreadLog*>(log)); };
  if (pthread_key_create(&key, end) == 0) thread_end_ = key;
  find_exit();
  // Where there is no memory for it, quick_exit() still comes to _exit().
  std::at_quick_exit([] { Recorder::get().write_all(); });
  fork_handler_set_ = pthread_atfork([] { Recorder::get().before_fork(); },
                                     [] { Recorder::get().after_fork_in_parent(); },
                                     [] { Recorder::get().after_fork_in_child(); }) == 0;
}

/// What the environment asks for. Both locks are held.
void Recorder::decide() noexcept {
  if (decided_) return;
  decided_ = true;
  slow_clock_ = !counter_is_steady();
  if (slow_clock_) clock_.set_identity();
  const bool known = attempt([this] { settings_ = settings_of_environment(); });
  // A child of a fork() that we do not hear of would wait for locks of threads that it does not
  // have.
  if (!known || !fork_handler_set_) failed_ = over_ = true;
  pool_.set_max_bytes(settings_.max_memory_bytes);
  wanted_ = !settings_.session.empty() && settings_.from_start;
  decide_limits();
}

void Recorder::choose_mode() noexcept {
  const bool wanted = wanted_ && !failed_ && in_time_ && !(planned_ && action_ == Action::none);
  std::uint32_t mode = wanted ? detail::kRecording : 0;
  if (slow_clock_) mode |= detail::kSlowClock;
  if (!settings_.range.empty()) mode |= detail::kWatching;
  detail::mode.store(mode, std::memory_order_relaxed);
}

/// Makes the file and our thread, once in each process. Both locks are held.
bool Recorder::begin() noexcept {
  decide();
  if (wanted_ && !begun_ && !failed_) {
    pid_ = getpid();
    begun_ = begin_file();
    failed_ = !begun_;
    if (begun_) begin_limits();
  }
  choose_mode();
  return begun_ && wanted_;
}

/// False where nothing can be recorded in this process. Both locks are held.
bool Recorder::begin_file() noexcept {
  attempt([this] { writer_ = open_capture_file(settings_.session, stem_, settings_, forked_); });
  if (writer_ == nullptr) return false;
  if (!start_worker()) {
    writer_->fact(pid_, "WARNING", "[\"no thread could be started: nothing is recorded\"]");
    writer_->close();
    writer_.reset();
    return false;
  }
  const ClockPair now = read_clock_pair(slow_clock_);
  clock_.add(now);
  began_ = now.ticks;
  for (const auto& [key, value] : facts_) writer_->fact(pid_, key, value);
  if (!keep_signals_) catch_crashes();
  catch_exit();
  // The last, as our thread waits for it.
  converter_.emplace(*writer_, clock_, windows_, pid_);
  return true;
}

bool Recorder::start(std::string_view folder) noexcept {
  const Inside guard;
  const auto turn = take_turn();
  const std::lock_guard lock(mutex_);
  decide();
  if (!begun_ && !over_) failed_ = false;  // another folder may do
  if (!begun_ && !folder.empty() && !attempt([&] { settings_.session = folder; })) return false;
  if (settings_.session.empty()) return false;
  wanted_ = true;
  return begin();
}

void Recorder::stop() noexcept {
  const Inside guard;
  const auto turn = take_turn();
  const std::lock_guard lock(mutex_);
  decide();
  wanted_ = false;
  choose_mode();
}

/// The lists are locked.
ThreadLog* Recorder::own_thread() noexcept {
  if (detail::thread_buffer != nullptr) return static_cast<ThreadLog*>(detail::thread_buffer);
  std::unique_ptr<ThreadLog> thread;
  const bool made = attempt([&] {
    thread = std::make_unique<ThreadLog>();
    thread->name = given_name();
    threads_.push_back(thread.get());
  });
  if (!made) return nullptr;
  thread->state.tid = gettid();
  detail::thread_buffer = thread.get();
  // Of one whose end is not reported to us, the log stays.
  if (thread_end_) pthread_setspecific(*thread_end_, thread.get());
  return thread.release();
}

detail::Buffer* Recorder::make_room(int events) noexcept {
  const Inside guard;
  if (guard.again()) return nullptr;
  std::unique_lock lock(mutex_);
  if (!begun_) {
    lock.unlock();
    const auto turn = take_turn();
    lock.lock();
    begin();
  }
  // What was begun before a stop() may end after it.
  if (!begun_ || failed_) return nullptr;
  ThreadLog* const thread = own_thread();
  if (thread == nullptr) return nullptr;
  if (thread->end - thread->next.load(std::memory_order_relaxed) >= events) return thread;
  if (Chunk* const fresh = pool_.take()) {
    change_chunk(*thread, fresh);
    return thread;
  }
  wake();
  lock.unlock();
  if (make_own_room(*thread)) return thread;
  lock.lock();
  lost_ += 1;
  return nullptr;
}

/// The lists are locked.
void Recorder::change_chunk(ThreadLog& thread, Chunk* fresh) noexcept {
  if (thread.chunk != nullptr) {
    thread.chunk->begin = thread.taken;
    thread.chunk->end = thread.next.load(std::memory_order_relaxed);
    thread.full.push(thread.chunk);
    if (++waiting_chunks_ >= kManyChunks) wake();
  }
  thread.chunk = fresh;
  thread.taken = fresh->memory;
  thread.end = fresh->memory + kChunkEvents;
  thread.next.store(fresh->memory, std::memory_order_release);
}

/// No more memory: the thread itself converts what it has noted down, and goes on in the same
/// chunk.
bool Recorder::make_own_room(ThreadLog& thread) noexcept {
  constexpr std::size_t kFewChunks = 4;
  const auto turn = take_turn();
  if (!converter_) return false;
  clock_.add(read_clock_pair(slow_clock_));
  bool more = convert(thread, kFewChunks);
  // A new thread has nothing to convert; others have, or have ended.
  if (thread.chunk == nullptr) more = convert_all(kFewChunks);
  converter_->finish();
  const std::lock_guard lock(mutex_);
  if (more || thread.chunk == nullptr) {
    Chunk* const fresh = pool_.take();
    if (fresh == nullptr) return false;
    change_chunk(thread, fresh);
    return true;
  }
  thread.taken = thread.chunk->memory;
  thread.next.store(thread.chunk->memory, std::memory_order_release);
  return true;
}

void Recorder::end_thread(ThreadLog* thread) noexcept {
  const std::lock_guard lock(mutex_);
  detail::thread_buffer = nullptr;
  thread->ended = true;
  if (++ended_threads_ >= kManyThreads) wake();
}

void Recorder::name_thread(std::string_view name) noexcept {
  const Inside guard;
  const std::lock_guard lock(mutex_);
  ThreadLog* const thread = own_thread();
  if (thread == nullptr) return;
  if (attempt([&] { thread->name = shortened(name); })) thread->named = false;
}

void Recorder::name_thread(std::int64_t tid, std::string_view name) noexcept {
  if (tid == gettid()) return name_thread(name);
  const Inside guard;
  const auto turn = take_turn();
  const std::lock_guard lock(mutex_);
  begin();
  const auto known =
      std::ranges::find(threads_, tid, [](const ThreadLog* thread) { return thread->state.tid; });
  if (known != threads_.end()) {
    if (attempt([&] { (*known)->name = shortened(name); })) (*known)->named = false;
  } else if (begun_) {
    writer_->thread(pid_, tid, shortened(name));
  }
}

void Recorder::fact(std::string_view key, std::string_view value) noexcept {
  const Inside guard;
  const auto turn = take_turn();
  const std::lock_guard lock(mutex_);
  begin();
  if (begun_) writer_->fact(pid_, key, value);
  attempt([&] { facts_.emplace_back(key, value); });
}

void Recorder::hold_in_fork(HeldInFork& lock) noexcept {
  const Inside guard;
  const std::lock_guard held(held_mutex_);
  lock.next = std::exchange(held_in_fork_, &lock);
}

void Recorder::before_fork() noexcept {
  held_mutex_.lock();
  for (HeldInFork* held = held_in_fork_; held != nullptr; held = held->next) held->mutex.lock();
  take_turn().release();
  mutex_.lock();
  windows_.lock();
  lock_texts();
}

void Recorder::after_fork_in_parent() noexcept {
  unlock_texts();
  windows_.unlock();
  mutex_.unlock();
  turn_.unlock();
  for (HeldInFork* held = held_in_fork_; held != nullptr; held = held->next) held->mutex.unlock();
  held_mutex_.unlock();
}

/// Only this thread is left, and what was noted down so far is the parent's to write.
void Recorder::after_fork_in_child() noexcept {
  for (ThreadLog* const thread : threads_) {
    while (Chunk* const chunk = thread->full.pop()) pool_.give_back(chunk);
    if (thread->chunk != nullptr) pool_.give_back(thread->chunk);
    if (thread != detail::thread_buffer) delete thread;
  }
  threads_.clear();
  if (detail::thread_buffer != nullptr) {
    auto* const own = static_cast<ThreadLog*>(detail::thread_buffer);
    std::string name = std::move(own->name);
    own->~ThreadLog();
    new (own) ThreadLog;
    own->state.tid = gettid();
    own->name = std::move(name);
    threads_.push_back(own);
  }
  waiting_chunks_ = 0;
  ended_threads_ = 0;
  range_depth_ = 0;
  stepping_ = false;
  thread_time_ = {};
  thread_time_said_ = false;
  lost_ = 0;
  converter_.reset();
  // Whether the writer has heard of the fork by now depends on whose handler was set first.
  if (writer_ != nullptr) writer_->abandon();
  writer_.reset();
  begun_ = false;
  forked_ = true;
  working_ = false;
  written_ = asked_.load();
  missed_told_ = false;
  queue_ = 0;
  sem_init(&work_, 0, 0);
  after_fork_in_parent();
  windows_.show_on(nullptr);  // that one is the parent's
}

}  // namespace fathom::inside
