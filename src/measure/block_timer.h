// How blocks of calls are timed: by the processor's clock, or by whatever has the same members.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/time.h"

namespace fathom::measure {

/// Makes so many calls; false where one failed, and measuring is to stop.
using Block = std::function<bool(std::size_t calls)>;

struct BlockTimer {
  std::string mode;            ///< "wall", "events", "device": stands in every result.
  std::string clock;           ///< What it reads, for people.
  Duration cost{};             ///< Of timing a block, as far as it lies in the block's time.
  Duration least{};            ///< So long a block is made, so that the cost is of no account.
  std::size_t most_calls = 0;  ///< Of a block.
  /// Nanoseconds of all calls of the block; nothing where it said false, or `error` says why.
  std::function<std::optional<double>(const Block&, std::size_t calls)> time;
  std::function<std::string()> error;  ///< May be empty.
};

/// CLOCK_MONOTONIC. `settle`, which may be empty, waits for what was begun: before the first
/// reading, and as a part of the block before the second; false where that failed. A block lasts at
/// least 1000 times what two readings take, and 20 µs. Source of sizing by the cost:
/// torch.utils.benchmark's Timer.blocked_autorange.
BlockTimer wall_timer(std::function<bool()> settle = {});

}  // namespace fathom::measure
