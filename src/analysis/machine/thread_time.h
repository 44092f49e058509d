// What the thread that steps did in its steps, or the main thread of a program: computed, waited,
// or had no processor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "store/trace.h"

namespace fathom {

struct ThreadTime {
  std::int64_t steps = 0;
  Duration wall{};
  Duration computing{};
  Duration preempted{};          ///< Ready, without a processor.
  Duration waiting{};            ///< Of steps: other than in a data loader.
  bool preempted_known = false;  ///< Else it is in `waiting`.
  /// Where it was found waiting: "train.py:12 in load", and how often; the most frequent first.
  struct Place {
    std::string where;
    std::int64_t looks = 0;
  };
  std::vector<Place> places;
};

/// Of the steps that were not recorded in depth, else of those that were, else of the whole program
/// once it has stopped importing, or from its first fathom::step() on: then `steps` is 0. Unset
/// where nobody measured it.
std::optional<ThreadTime> thread_time(const Trace& trace);

/// "computed 10.0 % of the time, waited 88.0 % (most often at train.py:12 in load), and was
/// ready without a processor for 2.0 %".
std::string whole_split(const ThreadTime& time);

/// What the thread did in `share` of its time (0…1) in which no operator ran. They sum to it.
struct PythonParts {
  double computing = 0;
  double waiting = 0;
  double preempted = 0;  ///< 0 where it is not known.
};
PythonParts python_parts(const ThreadTime& time, double share);

/// Splits time of the thread in which no operator ran: "computing 10.0 %, waiting 32.0 % (most
/// often at train.py:12 in load), preempted 2.0 %". `share` is what of the steps it is, 0…1.
std::string python_split(const ThreadTime& time, double share);

}  // namespace fathom
