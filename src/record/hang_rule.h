// HangRule: when a program that is being recorded does nothing any more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fathom::record {

/// What is seen of a process tree at one moment.
struct TreeLook {
  std::int64_t now = 0;                 ///< CLOCK_MONOTONIC, ns.
  std::map<pid_t, std::int64_t> spent;  ///< ns on a processor so far, by process.
  bool ready = false;                   ///< One runs, or waits for a processor.
  bool stopped = false;                 ///< By a signal or a debugger: it is not to do anything.
};

/// Decides when to look what a program does: when it has computed nothing for a time, or when a
/// step takes far longer than the others. Once for each such stretch. Pure: it reads no clock.
class HangRule {
 public:
  /// `quiet`: ns without anything.
  explicit HangRule(std::int64_t quiet) : quiet_(quiet) {}

  /// A step of a process that has ended. In any order.
  void step(pid_t pid, std::int64_t start, std::int64_t duration);
  /// What a process did beside its steps, such as a validation, and that has ended.
  void phase(std::int64_t start, std::int64_t duration);
  /// From now on it is not known which steps end.
  void lose_steps() { steps_known_ = false; }
  /// Why to look now, as a sentence without its end; "" where all is as it should be.
  std::string look(const TreeLook& tree);

  /// A step is odd when it lasts so many times the median, and no less than kLeastStep. One in
  /// which the program computes may be a validation: it is odd when it also lasts the quiet time,
  /// and longer than all that was done beside steps before.
  static constexpr std::int64_t kTimesMedian = 20;
  static constexpr std::int64_t kLeastStep = 5'000'000'000;
  static constexpr std::size_t kLeastSteps = 5;

 private:
  [[nodiscard]] bool has_acted(const TreeLook& tree);
  [[nodiscard]] bool computes(const TreeLook& tree) const;
  [[nodiscard]] std::string odd_step(const TreeLook& tree);

  std::int64_t quiet_;
  std::int64_t last_look_ = 0;
  std::int64_t quiet_since_ = 0;
  std::int64_t spent_since_ = 0;  ///< ns on a processor since then.
  std::map<pid_t, std::int64_t> spent_;
  std::vector<std::int64_t> steps_;  ///< The lengths of the last ones.
  std::size_t next_step_ = 0;        ///< Where the next one goes.
  std::int64_t last_end_ = 0;        ///< Of a step, or of what was done beside steps.
  std::int64_t spent_then_ = 0;      ///< ns on a processor, by the whole tree, when that was seen.
  std::int64_t longest_phase_ = 0;
  pid_t last_pid_ = 0;  ///< Whose that was.
  bool steps_known_ = true;
  bool told_quiet_ = false;
  bool told_step_ = false;
};

}  // namespace fathom::record
