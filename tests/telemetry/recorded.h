// What sources of telemetry put into a file, caught for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/series.h"

namespace fathom::monitor {

/// Keeps every sample. Names are "gpu.power", with a device "gpu.power/1", with a pid "a@123".
class Recorded : public SampleSink {
 public:
  std::uint32_t counter(std::int32_t pid, std::int32_t device, std::string_view name,
                        std::string_view unit) override {
    std::string full(name);
    if (device >= 0) full += "/" + std::to_string(device);
    if (pid != 0) full += "@" + std::to_string(pid);
    names_.push_back(full);
    units[std::string(name)] = std::string(unit);
    return static_cast<std::uint32_t>(names_.size() - 1);
  }
  void sample(std::int64_t time, std::uint32_t counter, double value) override {
    values[names_[counter]].push_back(value);
    times[names_[counter]].push_back(time);
  }
  void lose(std::int64_t /*time*/, std::string_view what) override { losses.emplace_back(what); }

  /// The last value, or -1 where there is none.
  [[nodiscard]] double last(const std::string& name) const {
    const auto at = values.find(name);
    return at == values.end() ? -1 : at->second.back();
  }
  [[nodiscard]] bool has(const std::string& name) const { return values.contains(name); }

  std::map<std::string, std::vector<double>> values;
  std::map<std::string, std::vector<std::int64_t>> times;
  std::map<std::string, std::string> units;  ///< By name without device and pid.
  std::vector<std::string> losses;

 private:
  std::vector<std::string> names_;
};

}  // namespace fathom::monitor
