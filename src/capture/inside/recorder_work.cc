// The work of the recorder's thread: each tick, and the end of the program.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "capture/inside/attempt.h"
#include "capture/inside/crash.h"
#include "capture/inside/inside_guard.h"
#include "capture/inside/recorder.h"

namespace fathom::inside {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
/// How often the end of the program looks whether our thread has written all, while that does not
/// get on: it may wait for a lock that a signal handler's thread holds, more so if that was in the
/// recorder.
constexpr int kMostLooks = 5000;
constexpr int kMostLooksInside = 1000;
constexpr timespec kBetweenLooks{0, 1'000'000};
constexpr timespec kLetOthers{0, 20'000};
/// No thread takes so long between looking at the clock and noting down what it saw.
constexpr std::int64_t kForget = 4 * kNsPerSecond;
/// So that others who want the turn get it soon.
constexpr std::size_t kChunksATurn = 8;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): set before main()
constinit std::atomic<TickHook> tick_hook{nullptr};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit std::atomic<LookHook> look_hook{nullptr};

timespec timespec_of(std::int64_t ns) { return {ns / kNsPerSecond, ns % kNsPerSecond}; }

}  // namespace

void Recorder::set_tick_hook(TickHook hook) noexcept { tick_hook = hook; }
void Recorder::set_look_hook(LookHook hook) noexcept { look_hook = hook; }

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

void Recorder::tick_soon() noexcept {
  tick_now_ = true;
  wake();
}

void Recorder::wait_for_work(std::int64_t until) noexcept {
  const timespec time = timespec_of(until);
  if (sem_clockwait(&work_, CLOCK_MONOTONIC, &time) != 0) return;
  while (sem_trywait(&work_) == 0) {
  }
}

std::unique_lock<std::mutex> Recorder::take_turn() noexcept {
  queue_.fetch_add(1);
  std::unique_lock turn(turn_);
  queue_.fetch_sub(1);
  return turn;
}

void Recorder::run() noexcept {
  std::int64_t next = wire::monotonic_ns() + kTick;
  bool more = false;
  while (!leave_) {
    if (!more) wait_for_work(std::min(next, deadline_.load()));
    // A mutex knows no queue: whoever lets go of it and takes it again would mostly get it.
    while (queue_ > 0 && !crashing()) nanosleep(&kLetOthers, nullptr);
    const std::int64_t now = wire::monotonic_ns();
    pass_deadline(now);
    if (const LookHook hook = look_hook; hook != nullptr && now >= next && !crashing())
      attempt(hook);
    const std::uint32_t asked = asked_;
    const bool all = asked != written_;
    const std::lock_guard turn(turn_);
    if (!converter_) continue;  // begin() is not through yet
    if (all) say_what_was_missed();
    if (tick_now_.exchange(false) || all || now >= next) {
      more = tick(all);
      next = wire::monotonic_ns() + kTick;
    } else {
      more = convert_all(kChunksATurn);
    }
    if (all) written_ = asked;
  }
}

/// Everything that is there now, but at most so many chunks of each thread. True where there is
/// more. One conversion at a time: all of these need the turn.
bool Recorder::convert_all(std::size_t most_chunks) noexcept {
  clock_.add(read_clock_pair(slow_clock_));
  bool more = false;
  // Only who has the turn takes threads off the list; further ones may come meanwhile.
  for (std::size_t i = 0; ThreadLog* const thread = thread_at(i); ++i)
    more = convert(*thread, most_chunks) || more;
  converter_->finish();
  forget_ended();
  return more;
}

/// Null behind the last.
ThreadLog* Recorder::thread_at(std::size_t index) noexcept {
  const std::lock_guard lock(mutex_);
  return index < threads_.size() ? threads_[index] : nullptr;
}

bool Recorder::convert(ThreadLog& thread, std::size_t most_chunks) noexcept {
  std::size_t chunks = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!thread.named && !thread.name.empty()) writer_->thread(pid_, thread.state.tid, thread.name);
    thread.named = true;
    chunks = thread.full.size() + 1;  // what comes meanwhile is for the next turn
  }
  const bool more = chunks > most_chunks;
  Stretch stretch;
  for (std::size_t i = 0; i < std::min(chunks, most_chunks) && next_stretch(thread, stretch); ++i)
    converter_->convert(thread.state, {stretch.begin, stretch.end});
  if (stretch.chunk != nullptr) {
    const std::lock_guard lock(mutex_);
    pool_.give_back(stretch.chunk);
  }
  return more;
}

/// What is to be converted next. Gives the memory of the one before back.
bool Recorder::next_stretch(ThreadLog& thread, Stretch& stretch) noexcept {
  const std::lock_guard lock(mutex_);
  if (stretch.chunk != nullptr) pool_.give_back(stretch.chunk);
  get_on();
  if (Chunk* const chunk = thread.full.pop()) {
    stretch = {chunk, chunk->begin, chunk->end};
    --waiting_chunks_;
    return true;
  }
  stretch = {nullptr, thread.taken, thread.next.load(std::memory_order_acquire)};
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

bool Recorder::tick(bool at_end) noexcept {
  const bool more = convert_all(at_end ? kAll : kChunksATurn);
  const std::int64_t now = wire::monotonic_ns();
  const std::int64_t before = at_end ? std::numeric_limits<std::int64_t>::max() : now - kTick;
  {
    const std::lock_guard lock(mutex_);
    for (ThreadLog* const thread : threads_) converter_->write_open(thread->state, before);
  }
  sample();
  say_thread_time(at_end);
  say_losses();
  writer_->flush();
  if (now - horizon_at_ > kForget && !more) {
    windows_.forget_before(horizon_);
    horizon_ = detail::ticks();
    horizon_at_ = now;
  }
  return more;
}

/// What came to nothing since the last time. Needs the turn.
void Recorder::say_losses() noexcept {
  std::uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    lost = std::exchange(lost_, 0);
  }
  if (lost > 0) writer_->dropped("events for which there was no memory", lost);
  if (const std::uint64_t failures = take_failures(); failures > 0)
    writer_->dropped("operations of the recorder that ran out of memory", failures);
  if (const std::uint64_t forgotten = windows_.take_forgotten(); forgotten > 0)
    writer_->dropped("stretches of recording that ran out of memory", forgotten);
}

/// What the thread that steps did, once it is over (docs/capture-reference.md). Needs the turn.
void Recorder::say_thread_time(bool at_end) noexcept {
  if (!stepping_) return;
  const std::lock_guard lock(mutex_);
  thread_time_.look();
  if (!at_end || thread_time_said_ || !thread_time_.known()) return;
  thread_time_said_ = true;
  const auto say = [this](std::string_view key, std::int64_t ns) {
    attempt([&] { writer_->fact(pid_, key, std::to_string(ns)); });
  };
  say("thread_time.main.wall_ns", thread_time_.wall_ns());
  say("thread_time.main.cpu_ns", thread_time_.cpu_ns());
  say("thread_time.main.preempted_ns", thread_time_.preempted_ns());
}

void Recorder::sample() noexcept {
  const TickHook hook = tick_hook;
  if (hook != nullptr) attempt([&] { hook(*writer_, pid_, wire::monotonic_ns()); });
}

bool Recorder::flush() noexcept {
  const Inside guard;
  const auto turn = take_turn();
  if (!converter_ || failed_) return true;
  convert_all(kAll);
  sample();
  say_losses();
  return writer_->flush();
}

void Recorder::finish() noexcept {
  const Inside guard;
  detail::mode.fetch_and(~detail::kRecording, std::memory_order_relaxed);
  stop_worker();
  let_crashes_be();
  const auto turn = take_turn();
  {
    const std::lock_guard lock(mutex_);
    if (!over_ && thread_end_) pthread_key_delete(*thread_end_);
    failed_ = true;
    over_ = true;
  }
  if (!converter_) return;
  say_what_was_missed();
  tick(true);
  writer_->close();
}

void Recorder::write_all() noexcept {
  // Our thread is not in a process that has the memory of its parent, such as a child of vfork().
  if (!working_ || pid_ != getpid() || pthread_equal(pthread_self(), worker_) != 0) return;
  const std::uint32_t number = ++asked_;
  wake();
  const Inside guard;
  const int most = guard.again() ? kMostLooksInside : kMostLooks;
  std::uint32_t seen = progress_;
  for (int looks = 0; written_ < number && looks < most; ++looks) {
    nanosleep(&kBetweenLooks, nullptr);
    if (seen != progress_) looks = 0;
    seen = progress_;
  }
}

namespace {

/// After the destructors of the program, which may be annotated.
constexpr int kLast = 101;
[[gnu::destructor(kLast)]] void at_the_end() {
  if (Recorder* const recorder = Recorder::if_made()) recorder->finish();
}

}  // namespace
}  // namespace fathom::inside
