// Recorder: the one of this process. Threads note events down in memory of their own; a thread of
// ours turns them into records four times a second, and sooner when there are many.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pthread.h>
#include <semaphore.h>

#include "capture/inside/chunks.h"
#include "capture/inside/clock_map.h"
#include "capture/inside/converter.h"
#include "capture/inside/settings.h"
#include "capture/inside/thread_log.h"
#include "capture/inside/thread_time.h"

namespace fathom::inside {

/// How often what was noted down is handed to the operating system.
inline constexpr std::int64_t kTick = 250'000'000;

/// Is called at every tick; may write samples. For parts of Fathom that count on their own.
using TickHook = void (*)(wire::Writer& writer, std::int32_t pid, std::int64_t now);
/// Is called before a tick, while none of our locks is held, so that it may take the loader's.
using LookHook = void (*)();

/// A lock that fork() takes before the recorder's, so that a child does not find it taken. Of what
/// is never destroyed.
struct HeldInFork {
  std::mutex mutex;
  HeldInFork* next = nullptr;
};

/// Lives from the first use to the very end of the process. Nothing throws, and nothing ends the
/// program: what there is no memory for is not recorded, and counted in the capture file.
///
/// Two locks: `turn_` for those who convert, which takes long, and `mutex_` for the lists, which
/// does not. Whoever takes both takes `turn_` first. fork() takes both, so that a child finds the
/// lists whole; the child then begins its own file with its first event.
class Recorder {
 public:
  static Recorder& get() noexcept;
  /// Null where nothing has used it yet.
  static Recorder* if_made() noexcept;
  /// Before anything is recorded: the name of capture files, a literal. Whether who records so
  /// notes down annotations, which the launcher's limits hold for, and knows of steps.
  void set_stem(const char* stem, bool annotates, bool has_steps) noexcept {
    stem_ = stem;
    annotates_ = annotates;
    has_steps_ = has_steps;
  }

  bool start(std::string_view folder) noexcept;
  void stop() noexcept;
  bool flush() noexcept;
  /// The end of the program: everything is written, and nothing is recorded any more.
  void finish() noexcept;

  /// As of detail::make_room().
  detail::Buffer* make_room(int events) noexcept;
  /// The thread notes nothing down any more, unless it asks for room again.
  void end_thread(ThreadLog* thread) noexcept;
  void name_thread(std::string_view name) noexcept;
  /// Another thread of this process, by its number in the system.
  void name_thread(std::int64_t tid, std::string_view name) noexcept;
  void fact(std::string_view key, std::string_view value) noexcept;
  /// Before main() too: makes no recorder.
  static void set_tick_hook(TickHook hook) noexcept;
  static void set_look_hook(LookHook hook) noexcept;

  Windows& windows() noexcept { return windows_; }
  /// fathom::step() was called: the schedule that the launcher was given goes on.
  void step_ended(std::uint64_t now) noexcept;
  /// The calling thread steps: what it does from now on is summed up, if it is the first.
  void time_steps() noexcept;
  /// The program has a schedule of its own.
  void drop_plan() noexcept;
  /// True where a scope of that name opens the recording, which its range_ends() closes.
  bool range_begins(const char* name) noexcept;
  void range_ends() noexcept;
  /// When recording began in this process, as of detail::ticks(); 0: not yet.
  std::uint64_t began() const noexcept { return began_; }
  void keep_signals() noexcept { keep_signals_ = true; }
  /// The program is about to end without its destructors, by a signal or _exit(): has everything
  /// written by our thread, and waits as long as that gets on. From signal handlers too.
  void write_all() noexcept;
  /// It is about to: somebody waits for that.
  [[nodiscard]] bool crashing() const noexcept { return asked_ != written_; }
  /// Has our thread call the tick hook soon. From signal handlers too.
  void tick_soon() noexcept;
  /// Of a tick hook that takes long: it has got on.
  void get_on() noexcept { ++progress_; }

  /// Whoever holds that lock may call us.
  void hold_in_fork(HeldInFork& lock) noexcept;
  void before_fork() noexcept;
  void after_fork_in_parent() noexcept;
  void after_fork_in_child() noexcept;

 private:
  Recorder() noexcept;

  bool begin() noexcept;
  bool begin_file() noexcept;
  void decide() noexcept;
  void decide_limits() noexcept;
  void begin_limits() noexcept;
  void look_at_time(std::int64_t now, std::uint64_t ticks) noexcept;
  void pass_deadline(std::int64_t now) noexcept;
  void say_what_was_missed() noexcept;
  [[nodiscard]] std::string what_was_missed() const;
  void say_losses() noexcept;
  void choose_mode() noexcept;
  bool start_worker() noexcept;
  void stop_worker() noexcept;
  void run() noexcept;
  void wake() noexcept;
  void wait_for_work(std::int64_t until) noexcept;
  ThreadLog* own_thread() noexcept;
  void change_chunk(ThreadLog& thread, Chunk* fresh) noexcept;
  bool make_own_room(ThreadLog& thread) noexcept;
  bool convert_all(std::size_t most_chunks) noexcept;
  bool convert(ThreadLog& thread, std::size_t most_chunks) noexcept;
  /// Events that are there to be converted, and the chunk that is free then.
  struct Stretch {
    Chunk* chunk = nullptr;
    detail::Event* begin = nullptr;
    detail::Event* end = nullptr;
  };
  bool next_stretch(ThreadLog& thread, Stretch& stretch) noexcept;
  ThreadLog* thread_at(std::size_t index) noexcept;
  void forget_ended() noexcept;
  bool tick(bool at_end) noexcept;
  void sample() noexcept;
  void say_thread_time(bool at_end) noexcept;
  std::unique_lock<std::mutex> take_turn() noexcept;

  const char* stem_ = "process";
  bool annotates_ = true;
  bool has_steps_ = true;
  Windows windows_;
  bool keep_signals_ = false;

  std::mutex held_mutex_;
  HeldInFork* held_in_fork_ = nullptr;

  std::mutex turn_;
  std::atomic<int> queue_{0};  // for the turn; our thread lets others go first
  std::unique_ptr<wire::Writer> writer_;
  std::optional<Converter> converter_;
  ClockMap clock_;
  bool slow_clock_ = false;
  std::atomic<std::uint64_t> began_{0};

  std::mutex mutex_;
  Settings settings_;
  bool decided_ = false;
  bool wanted_ = false;  // to be recorded, if it can be
  bool begun_ = false;   // there is a file in this process
  bool failed_ = false;  // there cannot be one, or the end has come
  bool over_ = false;    // the end has come
  bool missed_told_ = false;
  bool fork_handler_set_ = false;  // fork() calls us
  bool forked_ = false;
  std::atomic<std::int32_t> pid_{0};

  // What is kept of it.
  std::int64_t record_from_ = 0;
  std::int64_t record_to_ = std::numeric_limits<std::int64_t>::max();
  bool in_time_ = true;
  std::atomic<std::int64_t> deadline_{std::numeric_limits<std::int64_t>::max()};
  bool planned_ = false;  // by steps that fathom::step() counts
  Action action_ = Action::record;
  std::int64_t steps_seen_ = 0;
  std::atomic<bool> stepping_{false};
  ThreadTime thread_time_;  // of the first thread that stepped
  bool thread_time_said_ = false;
  std::int64_t rounds_ = 0;
  std::uint64_t round_began_ = 0;
  std::int64_t range_depth_ = 0;
  std::int64_t occurrences_ = 0;
  std::uint64_t horizon_ = 0;  // windows before are of no use soon
  std::int64_t horizon_at_ = 0;

  ChunkPool pool_{0};
  std::size_t waiting_chunks_ = 0;
  std::size_t ended_threads_ = 0;
  std::vector<ThreadLog*> threads_;
  std::vector<std::pair<std::string, std::string>> facts_;  // again in each process
  std::uint64_t lost_ = 0;                                  // events for which there was no memory
  std::optional<pthread_key_t> thread_end_;                 // none where the system has no more

  pthread_t worker_{};
  std::atomic<bool> working_{false};
  std::atomic<bool> leave_{false};
  // Who waits in write_all() draws a number.
  std::atomic<std::uint32_t> asked_{0};
  std::atomic<std::uint32_t> written_{0};
  std::atomic<std::uint32_t> progress_{0};
  std::atomic<bool> tick_now_{false};
  sem_t work_{};
};

}  // namespace fathom::inside
