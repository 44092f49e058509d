// Lets each correlation id vote for the processes that used it.
#include "analysis/structure/device_owners.h"

#include <algorithm>

namespace fathom {
namespace {

/// An id that more processes used says little about whose it is, and would cost processes ×
/// devices.
constexpr std::size_t kMostProcesses = 256;

}  // namespace

void DeviceOwners::count_by_process(std::span<const SliceId> slices, Counts& counts) {
  processes_.clear();
  for (const SliceId slice : slices) processes_.push_back(trace_.track(slice).process);
  std::ranges::sort(processes_);
  counts.clear();
  for (const StringId process : processes_) {
    if (counts.empty() || counts.back().first != process) counts.emplace_back(process, 0);
    ++counts.back().second;
  }
}

void DeviceOwners::count(std::span<const SliceId> calls, std::span<const SliceId> activities) {
  count_by_process(calls, hosts_);
  if (hosts_.size() > kMostProcesses) return;
  count_by_process(activities, devices_);
  for (const auto& [device, made] : devices_) {
    for (const auto& [host, called] : hosts_) votes_[{device, host}] += made * called;
  }
}

void DeviceOwners::decide() {
  std::map<StringId, std::uint64_t> best;
  for (const auto& [pair, count] : votes_) {
    const auto& [device, host] = pair;
    const auto known = best.find(device);
    if (known != best.end()) {
      const bool more = count > known->second;
      const bool first = trace_.text(host) < trace_.text(owners_.at(device));
      if (!more && (count < known->second || !first)) continue;
    }
    best[device] = count;
    owners_[device] = host;
  }
}

}  // namespace fathom
