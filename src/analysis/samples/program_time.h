// ProgramTime: what a program as a whole did with its time, by samples of its threads: it computed,
// had too few processors, waited for locks or for something else.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/samples/stack_roles.h"
#include "analysis/samples/thread_sums.h"
#include "store/trace.h"

namespace fathom {

/// Time of a thread, or of several that stand for the program: what they wait for each other is
/// left out.
struct Activity {
  Duration on_cpu{};
  Duration queued{};  ///< In the run queue.
  std::array<Duration, kWaitClasses> waits{};

  /// On a processor, in the run queue and blocked, as the wall time of a thread.
  [[nodiscard]] Duration whole() const;
  [[nodiscard]] double share(Duration part) const;  ///< 0…1 of whole().
  [[nodiscard]] Duration blocked() const;           ///< All waits.
  /// The longest of its waits.
  [[nodiscard]] WaitClass longest() const;
  [[nodiscard]] Duration waited(WaitClass wait) const {
    return waits[static_cast<std::size_t>(wait)];
  }
};

/// A stretch in which one callback kept an event loop from anything else.
struct LoopStretch {
  std::int64_t pid = kAbsent;
  std::int64_t tid = kAbsent;
  std::uint32_t callback = kNoFrame;  ///< What the loop had called.
  Time begin{};
  Duration on_cpu{};
  Duration blocked{};
  /// Of which it consists: the loop may have gone round unseen between two of them.
  std::uint64_t waits = 0;
  [[nodiscard]] Duration length() const { return on_cpu + blocked; }
};

struct ProgramTime {
  std::vector<ThreadSum> threads;
  std::int64_t main_pid = kAbsent;
  Interval time{};    ///< In which threads were looked at.
  Duration on_cpu{};  ///< Of all threads that were sampled.
  /// On a processor, in threads and processes that ended before they were looked at.
  Duration unsampled{};
  Duration queued{};
  /// Of `queued`, what more processors would end: what the program's own threads wanted beyond
  /// those that it may use. Who waits for a lock between two turns wants one only for its turns.
  /// Unset where it is not known how many these are.
  std::optional<Duration> starved;
  /// Of `queued`, for what the program's own threads were in each other's way, those that a lock
  /// has woken among them: the rest is due to other programs.
  std::optional<Duration> own_queue;
  std::optional<double> processors;  ///< That the program may use.
  Duration gil{};                    ///< Waits of all threads for the global interpreter lock
  Duration locks{};                  ///< and for locks of the program.
  /// How many threads waited so on the average. Their time in the run queue is left out: on a busy
  /// machine who looks whether a lock is free waits for a processor first.
  /// At the global interpreter lock also that with functions of libraries alone on the stack.
  double gil_waiters = 0;
  double lock_waiters = 0;
  std::vector<LoopStretch> stretches;  ///< Of at least kLongStretch, the longest first.
  Duration loop_blocked{};             ///< Their sum.
  /// The longest time in which a loop was met in nothing else: of stretches that follow one
  /// another.
  Duration longest_unmet{};
  Duration loops{};         ///< Time of threads with an event loop, without queues,
  Duration loops_queued{};  ///< and these.
  /// The main thread's; where it waits for others of the program, theirs. All of it is the wall
  /// time of `whose`.
  Activity activity;
  /// The thread whose wall time that is; unset where it is of what was not sampled.
  std::optional<std::pair<std::int64_t, std::int64_t>> whose;
  bool by_others = false;  ///< It waits for others of the program for most of its time, and
                           ///< theirs is known.
  /// How much of each thread's time, by pid and tid, counts in `activity`, 0…1.
  std::map<std::pair<std::int64_t, std::int64_t>, double> parts;
  Duration syncing{};  ///< Of its time on a processor, in fsync and its like.
  /// Of its time in the run queue, at places where it computes: where a thread also waits, that
  /// part of it which it computes of the rest there. Who is woken has to wait for a processor, too.
  Duration queued_to_compute{};
  /// What counts of the waits for others of the program of the thread whose time it is.
  double part_for_others = 1;

  [[nodiscard]] Duration wall() const { return time.end - time.begin; }
  /// How many threads were so on the average.
  [[nodiscard]] double average(Duration sum) const;
  /// Computing, 0…1 of what `activity` has outside of the run queue: who else is on the machine
  /// does not change what a program does by itself. The work of fsync is none of its computing.
  [[nodiscard]] double computing() const;
  /// What it computed or was in the run queue to compute.
  [[nodiscard]] Duration to_compute() const {
    return activity.on_cpu - syncing + queued_to_compute;
  }
  /// What of a sample's time on a processor counts in `activity`.
  [[nodiscard]] Duration counted(const StackSample& sample) const;
  /// What of a wait counts in `activity`: these sum to its waits of this class.
  [[nodiscard]] Duration counted(const StackSample& sample, WaitClass wait) const;
  /// In the run queue since other programs had the processors; unset where not known.
  [[nodiscard]] std::optional<Duration> displaced() const;
  /// How many waited for a processor on the average, as far as is known.
  [[nodiscard]] double starved_average() const { return starved ? average(*starved) : 0; }
};

inline constexpr Duration kLongStretch = duration_ns(100'000'000);

/// Unset without samples, or where they cover next to nothing. O(samples).
std::optional<ProgramTime> program_time(const Trace& trace, const StackRoles& roles);

}  // namespace fathom
