// Collectives of a recording: what they are, how large, and where they run.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/context.h"

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

/// Bytes per element of a collective's type, "Float" or "BFloat16"; 0 where it is not known.
std::int64_t dtype_bytes(std::string_view dtype);

struct CollectiveCall {
  SliceId slice{};  ///< The activity, or without a device the host slice that runs it.
  /// By its name; of a kernel that runs all kinds, by its metadata or by who launched it.
  CollectiveKind kind = CollectiveKind::other;
  std::uint64_t size = 0;  ///< Equal for calls of equal size; 0 where it was not recorded.
  std::int64_t bytes = 0;  ///< 0 where not recorded.
  /// What says the size, of the activity or of the call around it; of the trace. Null where tensors
  /// say it, or nothing.
  const Collective* metadata = nullptr;
};

/// The outermost communication slices of every host thread. By time per thread.
std::vector<SliceId> host_collectives(const Context& context);

/// What these are, in their order: activities of devices that communicate, or slices of the host.
std::vector<CollectiveCall> describe_collectives(const Context& context,
                                                 std::span<const SliceId> slices);

}  // namespace fathom
