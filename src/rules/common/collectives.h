// Collectives of a recording as rules see them: what they are, how large, and where they run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.h"

namespace fathom {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  other,
};
inline constexpr std::size_t kCollectiveKinds = static_cast<std::size_t>(CollectiveKind::other) + 1;
std::string_view to_string(CollectiveKind kind);
/// Of the name of a kernel, an operator or an annotation: "ncclDevKernel_AllReduce_…",
/// "gloo:all_reduce".
CollectiveKind collective_kind(std::string_view name);

/// One collective in the counted steps.
struct CollectiveCall {
  SliceId slice{};  ///< The activity, or without a device the host slice that runs it.
  /// By its name; of a kernel that runs all kinds, by its metadata or by who launched it.
  CollectiveKind kind = CollectiveKind::other;
  std::uint64_t size = 0;  ///< Equal for calls of equal size; 0 where it was not recorded.
  std::int64_t bytes = 0;  ///< 0 where not recorded.
};

/// With a device: its communication activities. Without: the outermost communication slices of
/// every host thread. By time per thread.
std::vector<CollectiveCall> collective_calls(const RuleContext& rules);

/// Is more than one rank known to take part, or at least nothing known that says otherwise?
bool has_peers(const RuleContext& rules);

}  // namespace fathom
