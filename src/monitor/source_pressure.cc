// pressure: time that tasks of the machine waited for processors, memory and disks (PSI).
#include <utility>
#include <vector>

#include "monitor/proc_text.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace {

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

}  // namespace

Opened open_pressure(Surroundings& surroundings, Series& series) {
  const std::string folder = surroundings.roots.proc + "/pressure/";
  if (std::string why = why_unreadable(folder + "memory"); !why.empty()) {
    return {.source = nullptr,
            .missing = {{.what = "waiting for processors, memory and disks (PSI)",
                         .why = std::move(why),
                         .remedy = "boot with psi=1 (Linux 4.20 and later, CONFIG_PSI)"}}};
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

}  // namespace fathom::monitor
