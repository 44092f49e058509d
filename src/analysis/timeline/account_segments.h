// The accounting of a device along the axis of time: which bucket each moment is in, and by whom.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/accounting/accounting.h"
#include "analysis/context.h"

namespace fathom {

/// A stretch of one bucket, or of several that are too short to be shown apart.
struct AccountSegment {
  Interval interval{};
  std::string_view bucket;  ///< The one with the largest part.
  /// Of an idle stretch, what held the device up: the operator that was late, else the call that
  /// opened the gap, else the launch that ended it. Of the main thread: the operator. May be
  /// invalid.
  SliceId cause{};
  /// Of a merged stretch: its buckets, largest first; they sum to its length.
  std::vector<std::pair<std::string_view, Duration>> parts;
};

struct AccountLane {
  std::vector<AccountSegment> segments;  ///< By time, disjoint; they cover the stretch.
  /// As `fathom accounting --window` sums them, without empty ones.
  std::vector<std::pair<std::string_view, Duration>> buckets;
  bool merged = false;  ///< Some segments have parts.
};

/// Of the stretch, as far as the trace's span goes; neighbours shorter than `least` are merged
/// until they are that long. Without a device: the main thread, in a trace without device activity.
/// O(log n + pieces inside).
AccountLane account_lane(const Context& context, std::optional<std::int32_t> device,
                         Interval stretch, Duration least);

}  // namespace fathom
