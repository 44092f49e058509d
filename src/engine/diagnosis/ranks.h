// The ranks of one program beside each other: which of them the others wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace fathom {

/// What a rank waited for others in one step.
struct RankWait {
  std::int64_t step = 0;  ///< Its number.
  Duration waited{};
};

/// One recording of the program. Times are per counted step.
struct RankRow {
  std::string input;  ///< What its recording is called.
  std::optional<std::int64_t> rank;
  Duration step{};           ///< Mean.
  Duration communication{};  ///< Exposed.
  /// Of it, in collectives that both ranks recorded, until the last rank came. At most
  /// `communication`.
  Duration waited{};
  /// The same by step, where there is any; ascending, and no mean. On a device at most what the
  /// step communicates.
  std::vector<RankWait> waits;
  Duration made_wait{};       ///< Where it came last: how long the rank that waited most did.
  std::size_t last = 0;       ///< In how many of the collectives that were compared it came last.
  std::string_view verdict;   ///< Of this recording alone, as in JSON.
  std::string verdict_words;  ///< Its sentence.
};

/// The recordings of one program, and what they show together that none shows alone. A collective
/// begins to transfer when its last rank arrives, so that on this rank it is shortest; what it
/// takes longer on the others is their waiting. No common clock is needed.
struct Ranks {
  std::vector<RankRow> rows;         ///< By rank, then as they were read.
  std::size_t diagnosed = 0;         ///< The row that the diagnosis is of,
  std::string why;                   ///< and why: "the others wait for it".
  std::optional<std::size_t> late;   ///< The row that the others wait for, where there is one.
  double late_percent = 0;           ///< Its made_wait, of the mean step of all.
  std::size_t compared = 0;          ///< Collectives that several ranks recorded.
  std::size_t not_compared = 0;      ///< Those that other ranks have not, or not as often.
  std::vector<std::string> missing;  ///< Recordings that could not be read, and why.
};

}  // namespace fathom
