// What a rule found: where time is lost, what to change, how much that may give, how to check it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "replay/replay.h"
#include "store/trace.h"

namespace fathom {

enum class Weight : std::uint8_t { note, warning, critical };
/// How sure a finding is of its cause, not of its gain.
enum class Confidence : std::uint8_t { low, medium, high };
/// What the change costs the user.
enum class Effort : std::uint8_t { flag, line, refactoring, redesign };
/// The family of time that a finding would recover; the verdict is named after the largest.
enum class Family : std::uint8_t {
  capture,  ///< Nothing is recovered: the recording itself is the matter.
  input,
  host,  ///< Dispatch and Python.
  sync,
  transfer,
  communication,
  straggler,
  allocation,
  compute,  ///< Fewer or faster floating-point operations.
  memory_bandwidth,
  latency,  ///< Kernels far from both roofs.
  memory_capacity,
  physical,
};
std::string_view to_string(Weight weight);
std::string_view to_string(Confidence confidence);
std::string_view to_string(Effort effort);
std::string_view to_string(Family family);

/// A fact that a finding rests on, or one that speaks against it.
struct Evidence {
  std::string text;                 ///< A sentence with its numbers.
  std::vector<SliceId> slices;      ///< At most eight examples, the costliest first.
  std::optional<Interval> where{};  ///< The place in the trace that shows it best.
  std::string location;             ///< "train.py:42", or empty.
};

/// Time that a finding would recover, by its owner, over the counted steps together. The owner is a
/// gap of Accounting, or a slice: a device activity (at most its credited time counts) or, in a
/// trace without a device, a host slice of the main thread (at most its own time counts). Where the
/// main thread is in no slice, the piece of the accounting owns the time.
struct Claim {
  std::int32_t device = -1;        ///< Of the gap; -1 where the owner is a slice or a piece.
  std::uint32_t gap = UINT32_MAX;  ///< Row of DeviceAccounting::gaps, or without a device of
                                   ///< Accounting::host, or UINT32_MAX.
  SliceId slice{};
  Duration time{};
  Duration whole{};  ///< Of which `time` is the part that would be saved; 0 where it is all of it.
};

/// What to do about it.
struct Fix {
  std::string text;    ///< What to change, with its caveats.
  std::string before;  ///< Code, or empty.
  std::string after;   ///< Code, or empty.
};

struct Finding {
  std::string_view rule;  ///< Id of its rule.
  std::string key;  ///< Distinguishes findings of one rule: an operator, a line; may be empty.
  /// What it shares with findings of other rules, where its rule alone does not tell; a literal.
  std::string_view cause;
  bool component = false;  ///< The key names no operation but a part of the step: a phase, input.
  std::string title;       ///< One line: what is wrong, with its number.
  Family family = Family::capture;
  Weight weight = Weight::note;
  Confidence confidence = Confidence::medium;
  Effort effort = Effort::line;
  std::vector<Evidence> evidence;
  std::string counter_evidence;  ///< The strongest fact against it, or what would disprove it.
  Fix fix;
  std::string verify;  ///< A fathom command that shows whether the change worked.
  std::vector<Claim> claims;
  /// The change for the replay, and what it assumes; empty when the finding predicts nothing.
  Edits edits;
  std::string assumption;
  /// The part of the replayed gain that is expected at least, 0…1: what the assumption may hide.
  double pessimism = 0.5;
  /// The share of the step that it is about, in percent, where it claims none of it: it says what
  /// takes the time, not what would be saved.
  double about_percent = 0;
  /// Not reported where less of the step, in percent, is left for it by rules that are more
  /// specific.
  double least_percent = 0;
};

}  // namespace fathom
