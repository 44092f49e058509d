// What recording cost a program, as its own run measured it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "store/trace.h"

namespace fathom {

/// Recorded steps beside steps of the same run, just before and after, that were not.
struct RecordingOverhead {
  /// Steps that were recorded with one set of options: "plain", "shapes", "shapes+stacks".
  struct Option {
    std::string name;
    double ratio = 1;
    std::int64_t steps = 0;
  };
  Duration unprofiled{};              ///< Median step that was not recorded.
  Duration profiled{};                ///< Median step that was.
  double ratio = 1;                   ///< How many times as long recorded steps took.
  std::int64_t unprofiled_steps = 0;  ///< That the medians are of.
  std::int64_t profiled_steps = 0;
  double noise = 0;             ///< Spread of the middle half of unrecorded steps, of their median.
  std::optional<double> least;  ///< In 19 of 20 cases the ratio is not below it; unset: unknown.
  std::vector<Option> options;  ///< By name; what was recorded is one of them.

  /// The part of a recorded step that recording took; at least 0.
  [[nodiscard]] double percent() const { return ratio > 1 ? 100 * (1 - 1 / ratio) : 0; }
  /// Whether recorded steps differ from others by no more than those do among each other.
  [[nodiscard]] bool in_noise() const { return ratio - 1 <= noise; }
  /// Whether they are longer for certain: by more than the noise, and in 19 of 20 cases.
  [[nodiscard]] bool shows() const { return !in_noise() && (!least || *least > 1); }
  /// Can recording be what made them longer, if its events cost `events` of a step? A machine that
  /// is busier meanwhile makes them longer as well.
  [[nodiscard]] bool may_be_due_to(Duration events) const;
};

/// Unset where the run measured nothing: it was too short, or is no session of `fathom run`.
std::optional<RecordingOverhead> recording_overhead(const Trace& trace);

/// "Recorded steps took 1.07 times as long as …", with the options that cost most.
std::string overhead_sentence(const RecordingOverhead& overhead);

}  // namespace fathom
