// ThreadLedger: how a thread spent its time, by the scheduler, and what of it has been given to a
// stack.
#pragma once

#include <cstdint>

namespace fathom::sample {

/// ns.
struct Spent {
  std::int64_t on_cpu = 0;
  std::int64_t queued = 0;   ///< It could have run, but had no processor.
  std::int64_t blocked = 0;  ///< Neither: it waited for something.

  [[nodiscard]] bool any() const { return on_cpu > 0 || queued > 0 || blocked > 0; }
};

/// Time is given out once: all that was given sums to what the scheduler counted and to what the
/// clock showed. The scheduler writes a running thread's time down a little late; what is blocked
/// is the rest, so it never shrinks.
class ThreadLedger {
 public:
  /// From `begin` on, when the scheduler had these numbers.
  ThreadLedger(std::int64_t begin, std::int64_t on_cpu, std::int64_t queued)
      : begin_(begin), on_cpu_(on_cpu), queued_(queued) {}

  /// What the scheduler has now. Times do not go back.
  void read(std::int64_t time, std::int64_t on_cpu, std::int64_t queued);

  /// What was not given yet.
  [[nodiscard]] const Spent& left() const { return left_; }
  /// All of the time on a processor and in the queue.
  Spent take_running();
  /// At most so much of the time blocked.
  Spent take_blocked(std::int64_t most);

 private:
  std::int64_t begin_;
  std::int64_t on_cpu_;  ///< Until the last read.
  std::int64_t queued_;
  std::int64_t ran_ = 0;  ///< On a processor and in the queue since `begin`.
  std::int64_t blocked_ = 0;
  Spent left_;
};

/// Two looks at a thread in a row, at the second of which it had run.
struct Between {
  bool was_asleep = false;
  bool is_asleep = false;
  bool same_place = false;     ///< It sleeps where it slept before.
  std::int64_t blocked = 0;    ///< ns between the looks.
  std::int64_t scheduled = 0;  ///< How often it was given a processor meanwhile.
  std::int64_t since = 0;      ///< When the first of them was.
};
/// Whether it was blocked for long between them somewhere that neither look has shown: a look that
/// came late says nothing of what was meanwhile. Over a short time, the places that are met stand
/// for those that are not.
bool blocked_unseen(const Between& looks);
/// Longer than a sleeping thread is left alone on a machine that is not busy: 40 ms.
inline constexpr std::int64_t kLongUnseen = 100'000'000;

}  // namespace fathom::sample
