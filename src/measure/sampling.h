// How many runs, in which order, and when to stop: pairs in random order until they are precise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace fathom::measure {

enum class Side : std::uint8_t { base, now };

struct SamplingPlan {
  bool paired = true;               ///< Else there is one side, `now`, and "pair" means one run.
  std::optional<std::size_t> runs;  ///< Exactly so many pairs.
  std::optional<Duration> time;     ///< No pair begins after it, but `least` are taken.
  double resolution = 0.01;         ///< The difference that is to be decided.
  bool until_precise = true;        ///< Stop when it would be, from the pilot pairs on.
  std::size_t least = 1;
  std::uint64_t seed = 0;  ///< Of the order within pairs.
};

/// What the resolution will take, told once after the pilot pairs.
struct Announcement {
  std::size_t after = 0;  ///< Pairs.
  std::size_t pairs = 0;  ///< In all.
  Duration time{};        ///< In all.
};

struct SamplingState {
  std::size_t pairs = 0;  ///< Complete ones.
  Duration elapsed{};
  std::optional<double> half_width;  ///< Blind to the sign (of one side: of its median). May be
                                     ///< infinite.
  std::optional<Duration> left;      ///< Unset before anything is known.
};

enum class Stopped : std::uint8_t {
  runs,
  time,
  precise,
  asked,        ///< By who measures: Ctrl-C, a failure.
  undecidable,  ///< Half of the pairs have a value of 0: no number of them makes it precise.
};
std::string_view to_string(Stopped reason);

/// What sampling asks of whoever measures.
struct SamplingHooks {
  /// Runs one side of a pair (numbers from 0); its value, or nothing to stop at once.
  std::function<std::optional<double>(Side, std::size_t pair)> measure;
  /// Since sampling began; does not go back.
  std::function<Duration()> elapsed;
  std::function<void(const SamplingState&)> progress;     ///< After each pair; may be empty.
  std::function<void(const Announcement&)> announcement;  ///< Once at most; may be empty.
};

struct Sampled {
  std::vector<double> base;  ///< Of complete pairs, in their order; empty where there is one side.
  std::vector<double> now;
  Stopped stopped = Stopped::runs;
  std::optional<Announcement> announced;
};

/// From so many pairs it is estimated how long the rest takes; no fewer count as precise.
inline constexpr std::size_t kPilotPairs = 20;

/// What is announced allows the pilot pairs' spread three standard errors more: 1.17 / √20 each,
/// that of the median of the absolute values of a normal distribution. What else the machine does
/// comes and goes, and the pilot pairs may have met little of it.
inline constexpr double kPilotError = 1.785;

/// Takes pairs until the plan is fulfilled. It never looks at which side is slower: see
/// blind_half_width_in_order().
Sampled sample(const SamplingPlan& plan, const SamplingHooks& hooks);

/// A seed that was never used before.
std::uint64_t new_seed();

}  // namespace fathom::measure
