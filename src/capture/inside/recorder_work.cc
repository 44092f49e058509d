// Our thread, what it does at each tick, and the end of the program.
#include <algorithm>
#include <limits>

#include <signal.h>
#include <time.h>

#include "capture/inside/crash.h"
#include "capture/inside/recorder.h"

namespace fathom::inside {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
/// How long a crash waits for our thread to write.
constexpr int kCrashWaits = 1000;
constexpr timespec kCrashWait{0, 1'000'000};

timespec timespec_of(std::int64_t ns) { return {ns / kNsPerSecond, ns % kNsPerSecond}; }

}  // namespace

bool Recorder::start_worker() noexcept {
  // The program's signals are for its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto body = [](void* recorder) -> void* {
    static_cast<Recorder*>(recorder)->run();
    return nullptr;
  };
  leave_ = false;
  const bool started = pthread_create(&worker_, nullptr, body, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) pthread_setname_np(worker_, "fathom");
  working_ = started;
  return started;
}

void Recorder::stop_worker() noexcept {
  if (!working_.exchange(false)) return;
  leave_ = true;
  wake();
  pthread_join(worker_, nullptr);
}

void Recorder::wake() noexcept { sem_post(&work_); }

void Recorder::wait_for_work(std::int64_t until) noexcept {
  const timespec time = timespec_of(until);
  if (sem_clockwait(&work_, CLOCK_MONOTONIC, &time) != 0) return;
  while (sem_trywait(&work_) == 0) {
  }
}

void Recorder::run() noexcept {
  std::int64_t next = wire::monotonic_ns() + kTick;
  while (!leave_) {
    wait_for_work(next);
    const std::int64_t now = wire::monotonic_ns();
    const bool crashing = crashing_;
    const std::lock_guard turn(turn_);
    if (converter_ == nullptr) continue;  // begin() is not through yet
    if (crashing || now >= next) {
      tick(crashing);
      next = wire::monotonic_ns() + kTick;
    } else {
      convert_all();
    }
    if (crashing) crash_written_ = true;
  }
}

/// One conversion at a time: all of these need the turn.
void Recorder::convert_all() noexcept {
  clock_.add(read_clock_pair(slow_clock_));
  std::vector<ThreadLog*> threads;
  {
    const std::lock_guard lock(mutex_);
    threads = threads_;
  }
  for (ThreadLog* const thread : threads) convert(*thread);
  converter_->finish();
  forget_ended();
}

void Recorder::convert(ThreadLog& thread) noexcept {
  if (!thread.named) {
    const std::lock_guard lock(mutex_);
    thread.named = true;
    if (!thread.name.empty()) writer_->thread(pid_, thread.state.tid, thread.name);
  }
  Chunk stretch;
  while (next_stretch(thread, stretch))
    converter_->convert(thread.state, {stretch.begin, stretch.end});
}

/// What is to be converted next. Gives the memory of the one before back.
bool Recorder::next_stretch(ThreadLog& thread, Chunk& stretch) noexcept {
  const std::lock_guard lock(mutex_);
  if (stretch.memory != nullptr) pool_.give_back(stretch.memory);
  stretch = {};
  if (!thread.full.empty()) {
    stretch = thread.full.front();
    thread.full.pop_front();
    --waiting_chunks_;
    return true;
  }
  stretch.begin = thread.taken;
  stretch.end = thread.next.load(std::memory_order_acquire);
  thread.taken = stretch.end;
  return stretch.begin != stretch.end;
}

void Recorder::forget_ended() noexcept {
  const std::lock_guard lock(mutex_);
  if (ended_threads_ == 0) return;
  // One that ended since it was converted waits for the next turn.
  const auto done = [&](ThreadLog* thread) {
    if (!thread->ended || !thread->full.empty() || thread->taken != thread->next) return false;
    if (thread->chunk != nullptr) pool_.give_back(thread->chunk);
    delete thread;
    --ended_threads_;
    return true;
  };
  std::erase_if(threads_, done);
}

void Recorder::tick(bool at_end) noexcept {
  convert_all();
  const std::int64_t now = wire::monotonic_ns();
  const std::int64_t before = at_end ? std::numeric_limits<std::int64_t>::max() : now - kTick;
  {
    const std::lock_guard lock(mutex_);
    for (ThreadLog* const thread : threads_) converter_->write_open(thread->state, before);
    if (lost_ > 0)
      writer_->dropped("events for which there was no memory", std::exchange(lost_, 0));
  }
  const TickHook hook = tick_hook_;
  if (hook != nullptr) hook(*writer_, pid_, now);
  writer_->flush();
}

bool Recorder::flush() noexcept {
  const std::lock_guard turn(turn_);
  if (converter_ == nullptr) return true;
  convert_all();
  return writer_->flush();
}

void Recorder::finish() noexcept {
  detail::mode.fetch_and(~detail::kRecording, std::memory_order_relaxed);
  stop_worker();
  let_crashes_be();
  const std::lock_guard turn(turn_);
  {
    const std::lock_guard lock(mutex_);
    if (!failed_) pthread_key_delete(thread_end_);
    failed_ = true;
  }
  if (converter_ != nullptr) tick(true);
}

void Recorder::flush_in_crash() noexcept {
  if (!working_ || pthread_equal(pthread_self(), worker_) != 0) return;
  crashing_ = true;
  wake();
  for (int i = 0; i < kCrashWaits && !crash_written_; ++i) nanosleep(&kCrashWait, nullptr);
}

namespace {

/// After the destructors of the program, which may be annotated.
constexpr int kLast = 101;
[[gnu::destructor(kLast)]] void at_the_end() {
  if (Recorder* const recorder = Recorder::if_made()) recorder->finish();
}

}  // namespace
}  // namespace fathom::inside
