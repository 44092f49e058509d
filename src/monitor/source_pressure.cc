// pressure: time that tasks of the machine waited for processors, memory and disks (PSI).
#include <utility>
#include <vector>

#include "monitor/proc_text.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace pressure_reader {
namespace {

constexpr CounterSpec kCounters[] = {
    {"pressure.cpu.some", "seconds", CounterKind::total, CounterOf::machine, "/proc/pressure/cpu",
     "time in which some task waited for a processor"},
    {"pressure.cpu.full", "seconds", CounterKind::total, CounterOf::machine, "/proc/pressure/cpu",
     "time in which all tasks did"},
    {"pressure.memory.some", "seconds", CounterKind::total, CounterOf::machine,
     "/proc/pressure/memory", "time in which some task waited for memory"},
    {"pressure.memory.full", "seconds", CounterKind::total, CounterOf::machine,
     "/proc/pressure/memory", "time in which all tasks did"},
    {"pressure.io.some", "seconds", CounterKind::total, CounterOf::machine, "/proc/pressure/io",
     "time in which some task waited for a disk"},
    {"pressure.io.full", "seconds", CounterKind::total, CounterOf::machine, "/proc/pressure/io",
     "time in which all tasks did"},
};
/// One of them.
consteval const CounterSpec& counter(std::string_view name) { return counter_in(kCounters, name); }

constexpr double kMicro = 1e-6;

class PressureFiles : public Source {
 public:
  void add(const std::string& path, Series::Handle some, Series::Handle full) {
    files_.push_back({RereadFile(path), some, full});
  }
  void sample(const Tick& tick, Series& series) override {
    for (const File& file : files_) {
      const auto pressure = parse_pressure(file.file.read(buffer_));
      if (!pressure) continue;
      series.put(tick.time, file.some, kMicro * static_cast<double>(pressure->some));
      if (pressure->full < 0) continue;
      series.put(tick.time, file.full, kMicro * static_cast<double>(pressure->full));
    }
  }

 private:
  struct File {
    RereadFile file;
    Series::Handle some;
    Series::Handle full;
  };
  std::vector<File> files_;
  std::string buffer_;
};

Opened open(Surroundings& surroundings, Series& series) {
  const std::string folder = surroundings.roots.proc + "/pressure/";
  if (std::string why = why_unreadable(folder + "memory"); !why.empty()) {
    return {.source = nullptr,
            .missing = {{.what = "waiting for processors, memory and disks (PSI)",
                         .why = std::move(why),
                         .remedy = "boot with psi=1 (Linux 4.20 and later, CONFIG_PSI)",
                         .whole_source = true}}};
  }
  auto files = std::make_unique<PressureFiles>();
  files->add(folder + "cpu", series.add(counter("pressure.cpu.some")),
             series.add(counter("pressure.cpu.full")));
  files->add(folder + "memory", series.add(counter("pressure.memory.some")),
             series.add(counter("pressure.memory.full")));
  files->add(folder + "io", series.add(counter("pressure.io.some")),
             series.add(counter("pressure.io.full")));
  return {.source = std::move(files), .missing = {}};
}

}  // namespace
}  // namespace pressure_reader

SourceSpec pressure_source() {
  return {.name = "pressure",
          .title = "waiting for processors, memory and disks (PSI)",
          .lost = "pressure.*; whether tasks waited for a processor, for memory or for a disk",
          .lane = Lane::host,
          .open = pressure_reader::open,
          .counters = pressure_reader::kCounters};
}

}  // namespace fathom::monitor
