// cpu: use of the processors, by all and by others, and the load.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "monitor/proc_text.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace cpu_reader {
namespace {

constexpr CounterSpec kCounters[] = {
    {"cpu.busy", "seconds", CounterKind::total, CounterOf::machine, "/proc/stat",
     "processor time in use, all processors together"},
    {"cpu.io_wait", "seconds", CounterKind::total, CounterOf::machine, "/proc/stat",
     "processors idle while a task waits for a disk"},
    {"cpu.stolen", "seconds", CounterKind::total, CounterOf::machine, "/proc/stat",
     "time that the hypervisor gave to other guests"},
    {"cpu.count", "count", CounterKind::level, CounterOf::machine, "/proc/stat",
     "processors that are online"},
    {"cpu.*.busy", "seconds", CounterKind::total, CounterOf::machine, "/proc/stat",
     "processor time in use, of one processor"},
    {"others.cpu", "seconds", CounterKind::total, CounterOf::machine, "/proc/stat, /proc/PID/stat",
     "processor time in use by processes outside of the captured tree"},
    {"load.running", "count", CounterKind::level, CounterOf::machine, "/proc/loadavg",
     "tasks that run or want to"},
    {"load.minute", "count", CounterKind::level, CounterOf::machine, "/proc/loadavg",
     "load average of the last minute"},
};
/// One of them.
consteval const CounterSpec& counter(std::string_view name) { return counter_in(kCounters, name); }

/// Processor time of our own process, seconds: neither the program's nor anybody else's.
double own_cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Cpu : public Source {
 public:
  Cpu(Surroundings& surroundings, Series& series, double tick_seconds)
      : surroundings_(surroundings),
        tick_seconds_(tick_seconds),
        stat_(surroundings.roots.proc + "/stat"),
        load_(surroundings.roots.proc + "/loadavg"),
        busy_(series.add(counter("cpu.busy"))),
        io_wait_(series.add(counter("cpu.io_wait"))),
        stolen_(series.add(counter("cpu.stolen"))),
        count_(series.add(counter("cpu.count"))),
        others_(series.add(counter("others.cpu"))),
        running_(series.add(counter("load.running"))),
        minute_(series.add(counter("load.minute"))) {}

  void sample(const Tick& tick, Series& series) override {
    if (const auto stat = parse_machine_stat(stat_.read(buffer_))) put(tick, series, *stat);
    if (const auto load = parse_load(load_.read(buffer_))) {
      // We run while we count.
      series.put(tick.time, running_,
                 static_cast<double>(std::max<std::int64_t>(0, load->running - 1)));
      series.put(tick.time, minute_, load->minute);
    }
  }

 private:
  [[nodiscard]] double seconds(std::int64_t ticks) const {
    return tick_seconds_ * static_cast<double>(ticks);
  }

  void put(const Tick& tick, Series& series, const MachineStat& stat) {
    const double busy = seconds(stat.all.busy);
    series.put(tick.time, busy_, busy);
    series.put(tick.time, io_wait_, seconds(stat.all.io_wait));
    series.put(tick.time, stolen_, seconds(stat.all.stolen));
    series.put(tick.time, count_, static_cast<double>(stat.each.size()));
    const double others = busy - surroundings_.tree_cpu - own_cpu();
    if (!first_others_) first_others_ = others;
    // Not made to rise: a tick that the kernel books late would then be counted twice.
    series.put(tick.time, others_, others - *first_others_);
    if (!tick.slow) return;
    for (const auto& [number, ticks] : stat.each) {
      auto at = each_.find(number);
      if (at == each_.end()) {
        at = each_.emplace(number, series.add(counter("cpu.*.busy"), std::to_string(number))).first;
      }
      series.put(tick.time, at->second, seconds(ticks.busy));
    }
  }

  Surroundings& surroundings_;
  const double tick_seconds_;
  RereadFile stat_;
  RereadFile load_;
  Series::Handle busy_;
  Series::Handle io_wait_;
  Series::Handle stolen_;
  Series::Handle count_;
  Series::Handle others_;
  Series::Handle running_;
  Series::Handle minute_;
  std::map<std::int32_t, Series::Handle> each_;
  std::optional<double> first_others_;
  std::string buffer_;
};

Opened open(Surroundings& surroundings, Series& series) {
  if (std::string why = why_unreadable(surroundings.roots.proc + "/stat"); !why.empty()) {
    return {.source = nullptr,
            .missing = {{.what = "use of the processors",
                         .why = std::move(why),
                         .remedy = "mount procfs on /proc",
                         .whole_source = true}}};
  }
  return {.source = std::make_unique<Cpu>(surroundings, series,
                                          1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK))),
          .missing = {}};
}

}  // namespace
}  // namespace cpu_reader

SourceSpec cpu_source() {
  return {.name = "cpu",
          .title = "processors, load, other programs",
          .lost = "cpu.*, others.cpu; whether other programs take the processors",
          .lane = Lane::host,
          .open = cpu_reader::open,
          .counters = cpu_reader::kCounters,
          .after = "processes"};
}

}  // namespace fathom::monitor
