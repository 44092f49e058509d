// disks: bytes read and written, and how long each was busy.
#include <map>
#include <utility>

#include "monitor/proc_text.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace disks_reader {
namespace {

constexpr CounterSpec kCounters[] = {
    {"disk.*.read", "bytes", CounterKind::total, CounterOf::machine, "/proc/diskstats",
     "read from that disk"},
    {"disk.*.written", "bytes", CounterKind::total, CounterOf::machine, "/proc/diskstats",
     "written to that disk"},
    {"disk.*.busy", "seconds", CounterKind::total, CounterOf::machine, "/proc/diskstats",
     "time in which that disk had something to do"},
};
/// One of them.
consteval const CounterSpec& counter(std::string_view name) { return counter_in(kCounters, name); }

constexpr double kSectorBytes = 512;
constexpr double kMilli = 1e-3;

class Disks : public Source {
 public:
  explicit Disks(const std::string& path) : file_(path) {}

  void sample(const Tick& tick, Series& series) override {
    if (!tick.brisk) return;
    for (const Disk& disk : parse_disks(file_.read(buffer_))) {
      auto at = handles_.find(disk.name);
      if (at == handles_.end()) {
        const Handles handles{series.add(counter("disk.*.read"), disk.name),
                              series.add(counter("disk.*.written"), disk.name),
                              series.add(counter("disk.*.busy"), disk.name)};
        at = handles_.emplace(disk.name, handles).first;
      }
      const Handles& to = at->second;
      series.put(tick.time, to.read, kSectorBytes * static_cast<double>(disk.read_sectors));
      series.put(tick.time, to.written, kSectorBytes * static_cast<double>(disk.written_sectors));
      series.put(tick.time, to.busy, kMilli * static_cast<double>(disk.busy_ms));
    }
  }

 private:
  struct Handles {
    Series::Handle read;
    Series::Handle written;
    Series::Handle busy;
  };
  RereadFile file_;
  std::map<std::string, Handles> handles_;
  std::string buffer_;
};

Opened open(Surroundings& surroundings, Series& /*series*/) {
  const std::string path = surroundings.roots.proc + "/diskstats";
  if (std::string why = why_unreadable(path); !why.empty()) {
    return {.source = nullptr,
            .missing = {{.what = "disks",
                         .why = std::move(why),
                         .remedy = "a container runtime that does not hide /proc/diskstats",
                         .whole_source = true}}};
  }
  return {.source = std::make_unique<Disks>(path), .missing = {}};
}

}  // namespace
}  // namespace disks_reader

SourceSpec disks_source() {
  return {.name = "disks",
          .title = "disks",
          .lost = "disk.*; how busy each disk is",
          .lane = Lane::host,
          .open = disks_reader::open,
          .counters = disks_reader::kCounters};
}

}  // namespace fathom::monitor
