// Who notes down, where, and when recording begins. Converting is in recorder_work.cc.
#include "capture/inside/recorder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/prctl.h>
#include <unistd.h>

#include "capture/inside/capture_file.h"
#include "capture/inside/crash.h"
#include "capture/inside/inside_guard.h"
#include "capture/inside/leave.h"
#include "capture/inside/texts.h"

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
  pthread_key_create(&thread_end_,
                     [](void* log) { Recorder::get().end_thread(static_cast<ThreadLog*>(log)); });
  find_exit();
  std::at_quick_exit([] { Recorder::get().write_all(); });
  pthread_atfork([] { Recorder::get().before_fork(); },
                 [] { Recorder::get().after_fork_in_parent(); },
                 [] { Recorder::get().after_fork_in_child(); });
}

/// What the environment asks for. Both locks are held.
void Recorder::decide() noexcept {
  if (decided_) return;
  decided_ = true;
  settings_ = settings_of_environment();
  pool_.set_max_bytes(settings_.max_memory_bytes);
  wanted_ = !settings_.session.empty() && settings_.from_start;
  slow_clock_ = !counter_is_steady();
  if (slow_clock_) clock_.set_identity();
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
    writer_ = open_capture_file(settings_.session, stem_, settings_, forked_);
    pid_ = getpid();
    failed_ = writer_ == nullptr || !start_worker();
    begun_ = !failed_;
    if (begun_) begin_limits();
  }
  choose_mode();
  if (!begun_) return false;
  if (converter_ != nullptr) return wanted_;
  converter_ = std::make_unique<Converter>(*writer_, clock_, windows_, pid_);
  const ClockPair now = read_clock_pair(slow_clock_);
  clock_.add(now);
  began_ = now.ticks;
  for (const auto& [key, value] : facts_) writer_->fact(pid_, key, value);
  if (!keep_signals_) catch_crashes();
  catch_exit();
  return wanted_;
}

bool Recorder::start(std::string_view folder) noexcept {
  const Inside guard;
  const auto turn = take_turn();
  const std::lock_guard lock(mutex_);
  decide();
  if (!begun_ && !over_) failed_ = false;  // another folder may do
  if (!begun_ && !folder.empty()) settings_.session = folder;
  if (settings_.session.empty()) return false;
  wanted_ = true;
  return begin();
}

void Recorder::stop() noexcept {
  const auto turn = take_turn();
  const std::lock_guard lock(mutex_);
  decide();
  wanted_ = false;
  choose_mode();
}

/// The lists are locked.
ThreadLog* Recorder::own_thread() noexcept {
  if (detail::thread_buffer != nullptr) return static_cast<ThreadLog*>(detail::thread_buffer);
  auto* const thread = new (std::nothrow) ThreadLog;
  if (thread == nullptr) return nullptr;
  thread->state.tid = gettid();
  thread->name = given_name();
  threads_.push_back(thread);
  detail::thread_buffer = thread;
  pthread_setspecific(thread_end_, thread);
  return thread;
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
  detail::Event* const fresh = pool_.take();
  if (fresh != nullptr) {
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
void Recorder::change_chunk(ThreadLog& thread, detail::Event* fresh) noexcept {
  if (thread.chunk != nullptr) {
    thread.full.push_back(
        {thread.chunk, thread.taken, thread.next.load(std::memory_order_relaxed)});
    if (++waiting_chunks_ >= kManyChunks) wake();
  }
  thread.chunk = fresh;
  thread.taken = fresh;
  thread.end = fresh + kChunkEvents;
  thread.next.store(fresh, std::memory_order_release);
}

/// No more memory: the thread itself converts what it has noted down, and goes on in the same
/// chunk.
bool Recorder::make_own_room(ThreadLog& thread) noexcept {
  constexpr std::size_t kFewChunks = 4;
  const auto turn = take_turn();
  if (converter_ == nullptr) return false;
  clock_.add(read_clock_pair(slow_clock_));
  bool more = convert(thread, kFewChunks);
  // A new thread has nothing to convert; others have, or have ended.
  if (thread.chunk == nullptr) more = convert_all(kFewChunks);
  converter_->finish();
  const std::lock_guard lock(mutex_);
  if (more || thread.chunk == nullptr) {
    detail::Event* const fresh = pool_.take();
    if (fresh == nullptr) return false;
    change_chunk(thread, fresh);
    return true;
  }
  thread.taken = thread.chunk;
  thread.next.store(thread.chunk, std::memory_order_release);
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
  thread->name = shortened(name);
  thread->named = false;
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
    (*known)->name = shortened(name);
    (*known)->named = false;
  } else if (begun_) {
    writer_->thread(pid_, tid, shortened(name));
  }
}

void Recorder::fact(std::string_view key, std::string_view value) noexcept {
  const Inside guard;
  const auto turn = take_turn();
  const std::lock_guard lock(mutex_);
  begin();
  facts_.emplace_back(key, value);
  if (begun_) writer_->fact(pid_, key, value);
}

void Recorder::hold_in_fork(std::mutex& lock) noexcept {
  const Inside guard;
  const std::lock_guard held(held_mutex_);
  held_in_fork_.push_back(&lock);
}

void Recorder::before_fork() noexcept {
  held_mutex_.lock();
  for (std::mutex* const lock : held_in_fork_) lock->lock();
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
  for (std::mutex* const lock : held_in_fork_) lock->unlock();
  held_mutex_.unlock();
}

/// Only this thread is left, and what was noted down so far is the parent's to write.
void Recorder::after_fork_in_child() noexcept {
  for (ThreadLog* const thread : threads_) {
    for (const Chunk& chunk : thread->full) pool_.give_back(chunk.memory);
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
  lost_ = 0;
  converter_.reset();
  // Whether the writer has heard of the fork by now depends on who asked first to be told.
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
