// cpu-energy: energy of the processors by their own counters (RAPL).
#include <system_error>
#include <utility>
#include <vector>

#include "base/folder.h"
#include "monitor/proc_text.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace cpu_energy_reader {
namespace {

constexpr CounterSpec kCounters[] = {
    {"energy.*", "joules", CounterKind::total, CounterOf::machine, "/sys/class/powercap",
     "energy of that processor package, or of a part of it"},
};
/// One of them.
consteval const CounterSpec& counter(std::string_view name) { return counter_in(kCounters, name); }

constexpr double kMicro = 1e-6;

/// One energy counter; it starts again at 0 when it is full.
struct Zone {
  RereadFile file;
  Series::Handle handle = 0;
  std::int64_t range = 0;  ///< µJ at which it starts again.
  std::int64_t last = -1;
  double joules = 0;  ///< Without the restarts.
};

class CpuEnergy : public Source {
 public:
  explicit CpuEnergy(std::vector<Zone> zones) : zones_(std::move(zones)) {}
  void sample(const Tick& tick, Series& series) override {
    for (Zone& zone : zones_) {
      const auto now = whole_integer(zone.file.read(buffer_));
      if (!now) continue;
      if (zone.last < 0)
        zone.joules = kMicro * static_cast<double>(*now);
      else
        zone.joules +=
            kMicro * static_cast<double>(*now - zone.last + (*now < zone.last ? zone.range : 0));
      zone.last = *now;
      series.put(tick.time, zone.handle, zone.joules);
    }
  }

 private:
  std::vector<Zone> zones_;
  std::string buffer_;
};

/// "package-0", "package-0.dram": a zone inside another bears both names.
std::string name_of(const std::string& folder) {
  const auto text = read_file(folder + "/name");
  if (!text) return {};
  std::string_view line = *text;
  return std::string(take_line(line));
}

Opened open(Surroundings& surroundings, Series& series) {
  const std::string root = surroundings.roots.sys + "/class/powercap";
  std::vector<Zone> zones;
  std::string why;
  std::error_code error;
  for (const std::string& zone : names_in(root, error)) {
    // "intel-rapl:0" is a package, "intel-rapl:0:1" a part; the -mmio ones count the same again.
    if (!zone.starts_with("intel-rapl:") && !zone.starts_with("amd-rapl:")) continue;
    const std::string folder = std::string(root).append("/").append(zone);
    std::string name = name_of(folder);
    if (name.empty()) continue;
    const std::size_t first = zone.find(':');
    if (const std::size_t second = zone.find(':', first + 1); second != std::string::npos) {
      std::string outer = name_of(root + "/" + zone.substr(0, second));
      name = outer.append(".").append(name);
    }
    if (std::string unreadable = why_unreadable(folder + "/energy_uj"); !unreadable.empty()) {
      why = std::move(unreadable);
      continue;
    }
    Zone line;
    line.file = RereadFile(folder + "/energy_uj");
    line.handle = series.add(counter("energy.*"), name);
    line.range = whole_integer(read_file(folder + "/max_energy_range_uj").value_or("")).value_or(0);
    zones.push_back(std::move(line));
  }
  if (!zones.empty())
    return {.source = std::make_unique<CpuEnergy>(std::move(zones)), .missing = {}};
  const bool locked = !why.empty();
  return {
      .source = nullptr,
      .missing = {{.what = "energy of the processors (RAPL)",
                   .why = locked ? why : "this machine shows no counters of energy",
                   .remedy = locked ? "as root, once: chmod a+r /sys/class/powercap/*/energy_uj; "
                                      "it shows all users what others compute (CVE-2020-8694)"
                                    : "virtual machines have none",
                   .whole_source = true}}};
}

}  // namespace
}  // namespace cpu_energy_reader

SourceSpec cpu_energy_source() {
  return {.name = "cpu-energy",
          .title = "energy of the processors (RAPL)",
          .lost = "energy of processors and memory (energy.*), and their part of money and CO2",
          .lane = Lane::host,
          .open = cpu_energy_reader::open,
          .counters = cpu_energy_reader::kCounters};
}

}  // namespace fathom::monitor
