// Switch: a thread was taken from its processor, or given one. Where the kernel writes them down,
// how long the thread was blocked where is exact.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sample/thread_ledger.h"

namespace fathom::sample {

struct Switch {
  std::int64_t time = 0;   ///< CLOCK_MONOTONIC, ns.
  bool out = false;        ///< Taken from its processor.
  bool displaced = false;  ///< It could have gone on.
};

/// What a thread was blocked between two looks, by when it was; ns.
struct BlockedParts {
  std::int64_t before = 0;   ///< Where the look before has met it asleep.
  std::int64_t between = 0;  ///< In waits that neither look has met.
  std::int64_t after = 0;    ///< Where this look has met it asleep.
};

/// `switches` are those between the looks, of which the second was at `now`. Nothing where they are
/// not what the scheduler has counted, or not what the looks have met: then some are missing. The
/// parts sum to `looks.blocked`: what a thread waits for its processor once it may go on is no part
/// of it.
std::optional<BlockedParts> divide_blocked(const Between& looks, std::span<const Switch> switches,
                                           std::int64_t now);

}  // namespace fathom::sample
