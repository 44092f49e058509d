// Measures something that is called in this process, alone or against something else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/block_timer.h"
#include "measure/clock_rule.h"
#include "measure/conditions.h"
#include "measure/sampling.h"

namespace fathom::measure {

struct FunctionOptions {
  std::string base;  ///< What the base is called; of no account where the plan has one side.
  std::string now;
  SamplingPlan plan;
  std::size_t warmup = 1;            ///< Calls of each side before, which count for nothing.
  std::optional<std::size_t> calls;  ///< In a block; without it, as many as the timer needs.
  bool items = false;                ///< What is called gives items, one after the other.
};

/// When the items of one call came, in nanoseconds since it was made.
struct ItemTimes {
  std::vector<double> at;
  double end = 0;  ///< When it was over.
};

enum class Phase : std::uint8_t { first_call, warm_up, sizing, pairs };

/// Which block.
struct Place {
  Side side = Side::now;
  Phase phase = Phase::first_call;
  std::size_t pair = 0;  ///< Among those of the phase.
};
/// "in pair 12 of the base", counted from 1.
std::string place_text(const Place& place, bool paired);

struct FunctionHooks {
  /// Of the machine before anything is measured; empty: conditions_at_start().
  std::function<Conditions()> conditions;
  BlockTimer timer;
  /// The timer of all blocks after the warm-up, for what a first call makes ready may be needed to
  /// choose it; nothing to stop. May be empty.
  std::function<std::optional<BlockTimer>()> choose_timer;
  /// Before each block, not timed; false to stop. May be empty.
  std::function<bool(Side)> prepare;
  std::function<bool(Side, std::size_t calls)> call;
  /// One call whose items are timed; nothing to stop. Needed where `items` are.
  std::function<std::optional<ItemTimes>(Side)> call_for_items;
  std::function<ClockReading()> clocks;                   ///< After each block; may be empty.
  std::function<void(const Announcement&)> announcement;  ///< May be empty.
  std::function<void(const std::string&)> warning;        ///< May be empty.
};

/// One timed block of calls.
struct FunctionSample {
  Side side = Side::now;
  std::size_t pair = 0;
  std::int64_t begin_ns = 0;  ///< Since measuring began.
  std::size_t calls = 1;
  double ns = 0;             ///< Of all calls.
  std::int64_t user_ns = 0;  ///< Processor time of this process meanwhile.
  std::int64_t system_ns = 0;
  ClockReading clocks;
  std::optional<ItemTimes> items;
};

struct FunctionOutcome {
  std::vector<FunctionSample> samples;  ///< In the order in which they were taken.
  /// Of each side, by Side; unset without a warm-up.
  std::array<std::optional<double>, 2> first_call_ns;
  std::array<std::size_t, 2> calls{1, 1};  ///< In a block.
  Sampled sampled;                         ///< Nanoseconds a call, of complete pairs.
  std::string mode;
  std::string clock;
  Duration timer_cost{};
  Duration least_block{};
  Conditions conditions;
  Duration elapsed{};
  std::optional<Place> failed;  ///< Where a hook said to stop, or the timer failed.
  std::string timer_error;      ///< Why, where it was the timer.
};

/// First one call of each side, shown apart, then the others of the warm-up, then blocks that grow
/// until they are long enough, then pairs of blocks in random order until the plan is fulfilled.
/// Both sides make the same number of calls a block, unless one takes eight times as long. Stops
/// where a hook asks for it; complete pairs are kept.
FunctionOutcome bench_function(const FunctionOptions& options, const FunctionHooks& hooks);

}  // namespace fathom::measure
