// The collectives of one rank's counted steps, to be compared with those of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// One collective that all members of its group call in the same order.
struct RankCall {
  std::int64_t step = 0;  ///< The number of the step in which it begins.
  /// Equal on all ranks for calls of one kind and group: hashed from their texts, never from ids.
  std::uint64_t key = 0;
  Duration length{};   ///< From the rank's arrival to the end: waiting, then transfer.
  Duration exposed{};  ///< The part of `length` that nothing hides.
};

struct RankCalls {
  std::vector<RankCall> calls;  ///< By step and key; those of one key by start.
  std::size_t messages = 0;     ///< Left out: between two ranks only.
  Duration exposed{};           ///< Of all communication, those that are no RankCall too.
};

/// Point-to-point messages are left out of `calls`: sender and receiver do not call the same. A
/// SendRecv kernel without metadata is none where an all-to-all launched it, or where there are
/// only two ranks.
RankCalls rank_calls(const RuleContext& rules);

}  // namespace fathom
