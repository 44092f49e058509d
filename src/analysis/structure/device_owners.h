// Which process's calls started the work of each device, where one file holds several processes.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// With several processes in one file, correlation ids repeat. A device belongs to the process
/// whose calls carry the ids of most of its activities.
class DeviceOwners {
 public:
  explicit DeviceOwners(const Trace& trace) : trace_(trace) {}

  /// Counts the calls and activities of one correlation id. O(n log n) in their number.
  void count(std::span<const SliceId> calls, std::span<const SliceId> activities);
  void decide();

  /// Of a device's process; an invalid id where nothing shows.
  [[nodiscard]] StringId of(StringId device) const {
    const auto owner = owners_.find(device);
    return owner == owners_.end() ? StringId() : owner->second;
  }

 private:
  using Counts = std::vector<std::pair<StringId, std::uint64_t>>;
  void count_by_process(std::span<const SliceId> slices, Counts& counts);

  const Trace& trace_;
  std::map<std::pair<StringId, StringId>, std::uint64_t> votes_;  // device's process, host's
  std::map<StringId, StringId> owners_;
  std::vector<StringId> processes_;  // buffers
  Counts hosts_;
  Counts devices_;
};

}  // namespace fathom
