// Writes the facts about devices, once all records are read.
#include <algorithm>
#include <map>
#include <string>

#include "formats/common/devices.h"
#include "formats/fathom_wire/json_value.h"
#include "formats/fathom_wire/trace_maker.h"

namespace fathom::own {
namespace {

constexpr std::string_view kProperties = "device_properties.";

}  // namespace

/// Each device's properties are a fact of their own in the file; together they are what
/// torch.profiler calls deviceProperties.
void TraceMaker::add_devices() {
  std::string all;
  for (auto at = facts_.begin(); at != facts_.end();) {
    if (!at->first.second.starts_with(kProperties)) {
      ++at;
      continue;
    }
    all += (all.empty() ? "[" : ", ") + at->second;
    at = facts_.erase(at);
  }
  if (all.empty()) return;
  const std::string json = json_value(all + "]");
  facts_[{0, "deviceProperties"}] = json;
  trace_.devices = read_devices(json);
  per_multiprocessor();
}

/// As torch.profiler computes them, from the device that a kernel ran on. Where devices differ, the
/// first one's.
void TraceMaker::per_multiprocessor() {
  const Device& device = trace_.devices.empty() ? Device{} : trace_.devices.front();
  if (device.sms <= 0 || device.warp_size <= 0) return;
  for (LaunchConfig& config : trace_.launch_configs) {
    const auto product = [](const std::array<std::int32_t, 3>& sizes) {
      return static_cast<double>(sizes[0]) * sizes[1] * sizes[2];
    };
    if (product(config.grid) <= 0 || product(config.block) <= 0) continue;
    config.blocks_per_sm = product(config.grid) / device.sms;
    config.warps_per_sm = config.blocks_per_sm * product(config.block) / device.warp_size;
  }
}

void TraceMaker::name_devices() {
  std::map<std::int32_t, StringId> devices;
  for (const Track& track : trace_.tracks) {
    if (track.kind == TrackKind::device_stream) devices.emplace(track.device, track.process);
  }
  for (const auto& [device, id] : devices) {
    const bool there =
        std::ranges::find(trace_.processes, id, &Process::id) != trace_.processes.end();
    if (there) continue;
    trace_.processes.push_back({id, trace_.strings.intern("GPU"),
                                trace_.strings.intern("GPU " + std::to_string(device)), kAbsent});
  }
}

}  // namespace fathom::own
