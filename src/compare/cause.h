// Why work of two recordings takes another time: a closed list, each entry with its own test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compare/align.h"
#include "compare/profile.h"

namespace fathom {

/// In the order in which they are tried: the first whose test holds is the cause.
enum class Cause : std::uint8_t {
  none,             ///< Nothing changed.
  not_recorded,     ///< On one side only, and the other's recording cannot show it.
  launch_unknown,   ///< Idle time whose launch was not recorded, or time outside of the recording.
  loader,           ///< Waiting for the data loader.
  recompilation,    ///< A compiler or autotuner at work.
  warm_up,          ///< What is done only once.
  synchronization,  ///< New or removed calls that wait for the device.
  copies,           ///< More or fewer copies, or bytes to copy.
  replaced,         ///< Other operators in their place.
  shape_or_dtype,   ///< The same operators with other arguments.
  kernel,           ///< Another kernel for the operator.
  calls,            ///< More or fewer calls.
  collective_wait,  ///< Collectives take another time.
  noise,            ///< Steps of one recording vary as much.
  clock,            ///< The device's clock changed as much.
  cycles,           ///< Calls take more or fewer cycles.
  time_per_call,    ///< Calls take another time; whether by clock or cycles is not known.
};
inline constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::time_per_call) + 1;
/// Stable, for JSON: "shape_or_dtype".
std::string_view to_string(Cause cause);
/// For people, by the direction of the change: "fewer calls".
std::string_view cause_title(Cause cause, bool less_time);

/// What is known of a row when its cause is looked for.
struct RowFacts {
  const AlignedWork& work;
  std::int64_t base_steps = 1;
  std::int64_t new_steps = 1;
  WorkTime base;  ///< Sums of the row.
  WorkTime now;
  /// The change per step by calls and by time per call, in ns; unset without calls on a side.
  std::optional<double> by_calls;
  std::optional<double> by_time;
  std::optional<double> by_clock;  ///< The part of `by_time` that the clock makes.
  /// The rank-sum test over batches of steps, with the false discovery rate over all rows, does
  /// not reject that both sides are equal. Unset where there are too few steps to tell.
  std::optional<bool> within_noise;
  std::optional<double> base_clock_mhz;
  std::optional<double> new_clock_mhz;
  /// A baseline has no room for all rows: what is on one side alone may be in such a sum.
  bool maybe_folded = false;
  /// What a side has is recorded on the other, where that has it (Profile).
  bool operators_comparable = true;
  bool launches_comparable = true;

  /// Sets what is divided by Shapley: `by_calls`, `by_time` and `by_clock`.
  void divide_change();
  /// Are the calls per step not exactly the same?
  [[nodiscard]] bool calls_differ() const;
  /// Is more of the change due to calls than to their time?
  [[nodiscard]] bool mostly_calls() const;
};

struct CauseFound {
  Cause cause = Cause::none;
  std::string detail;
};

CauseFound find_cause(const RowFacts& facts);

}  // namespace fathom
