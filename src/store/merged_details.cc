// Copies detail rows in the order in which slices need them.
#include "store/merged_details.h"

namespace fathom {

MergedDetails::ConfigKey MergedDetails::key_of(const LaunchConfig& config) {
  // Every field is a whole number far below 2^53, or a double.
  return {static_cast<double>(config.grid[0]),
          static_cast<double>(config.grid[1]),
          static_cast<double>(config.grid[2]),
          static_cast<double>(config.block[0]),
          static_cast<double>(config.block[1]),
          static_cast<double>(config.block[2]),
          static_cast<double>(config.registers),
          static_cast<double>(config.shared_memory),
          config.blocks_per_sm,
          config.warps_per_sm,
          config.occupancy_percent};
}

LaunchConfigId MergedDetails::config(LaunchConfigId theirs) {
  if (!theirs.valid()) return theirs;
  if (!indexed_) {
    indexed_ = true;
    known_.resize(other_.launch_configs.size());
    for (std::size_t row = 0; row < base_.launch_configs.size(); ++row)
      configs_.emplace(key_of(base_.launch_configs[row]), LaunchConfigId(row));
  }
  LaunchConfigId& mine = known_[theirs.row()];
  if (mine.valid()) return mine;
  const LaunchConfig& config = other_.launch_configs[theirs.row()];
  const auto [at, added] =
      configs_.try_emplace(key_of(config), LaunchConfigId(base_.launch_configs.size()));
  if (added) base_.launch_configs.push_back(config);
  return mine = at->second;
}

std::uint32_t MergedDetails::copy(SliceKind kind, std::uint32_t row) {
  if (row == SliceId::kNone) return row;
  switch (kind) {
    case SliceKind::kernel:
      base_.kernels.config.push_back(config(other_.kernels.config[row]));
      base_.kernels.graph_node.push_back(other_.kernels.graph_node[row]);
      return static_cast<std::uint32_t>(base_.kernels.size() - 1);
    case SliceKind::memcpy:
    case SliceKind::memset:
      base_.copies.bytes.push_back(other_.copies.bytes[row]);
      base_.copies.kind.push_back(other_.copies.kind[row]);
      base_.copies.source.push_back(other_.copies.source[row]);
      base_.copies.destination.push_back(other_.copies.destination[row]);
      return static_cast<std::uint32_t>(base_.copies.size() - 1);
    case SliceKind::sync: {
      const StringId word = other_.syncs.kind[row];
      base_.syncs.kind.push_back(word.valid() ? base_.strings.intern(other_.text(word)) : word);
      base_.syncs.wait_stream.push_back(other_.syncs.wait_stream[row]);
      base_.syncs.wait_event.push_back(other_.syncs.wait_event[row]);
      base_.syncs.wait_correlation.push_back(other_.syncs.wait_correlation[row]);
      return static_cast<std::uint32_t>(base_.syncs.size() - 1);
    }
    default:
      return SliceId::kNone;
  }
}

}  // namespace fathom
