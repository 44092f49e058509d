// cgroup: limits of the container that we run in, how near they are, and what they cost.
#include <optional>
#include <utility>

#include "base/cgroup.h"
#include "monitor/proc_text.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace cgroup_reader {
namespace {

constexpr CounterSpec kCounters[] = {
    {"cgroup.memory", "bytes", CounterKind::level, CounterOf::machine, "cgroup",
     "memory charged to our control group"},
    {"cgroup.memory_limit", "bytes", CounterKind::level, CounterOf::machine, "cgroup",
     "the tightest limit of it and of those around it; absent: none"},
    {"cgroup.memory_reached", "count", CounterKind::total, CounterOf::machine, "cgroup",
     "times that the limit was met, and memory had to be reclaimed"},
    {"cgroup.oom_kills", "count", CounterKind::total, CounterOf::machine, "cgroup",
     "processes killed for lack of memory"},
    {"cgroup.cpu_limit", "cores", CounterKind::level, CounterOf::machine, "cgroup",
     "the tightest limit, in processors; absent: none"},
    {"cgroup.cpu_periods", "count", CounterKind::total, CounterOf::machine, "cgroup",
     "periods in which the limit was watched"},
    {"cgroup.cpu_throttled_periods", "count", CounterKind::total, CounterOf::machine, "cgroup",
     "periods in which it was used up"},
    {"cgroup.cpu_throttled", "seconds", CounterKind::total, CounterOf::machine, "cgroup",
     "time that threads were kept from running by it, all processors together"},
    {"cgroup.pressure.cpu", "seconds", CounterKind::total, CounterOf::machine, "cgroup",
     "time in which some task of the group waited for a processor"},
    {"cgroup.pressure.memory", "seconds", CounterKind::total, CounterOf::machine, "cgroup",
     "time in which some task of the group waited for memory"},
    {"cgroup.pressure.io", "seconds", CounterKind::total, CounterOf::machine, "cgroup",
     "time in which some task of the group waited for a disk"},
};
/// One of them.
consteval const CounterSpec& counter(std::string_view name) { return counter_in(kCounters, name); }

constexpr double kMicro = 1e-6;

class Cgroup : public Source {
 public:
  Cgroup(CgroupFolders memory, CgroupFolders cpu, Series& series)
      : memory_(std::move(memory)),
        cpu_(std::move(cpu)),
        used_(series.add(counter("cgroup.memory"))),
        limit_(series.add(counter("cgroup.memory_limit"))),
        reached_(series.add(counter("cgroup.memory_reached"))),
        kills_(series.add(counter("cgroup.oom_kills"))),
        cores_(series.add(counter("cgroup.cpu_limit"))),
        periods_(series.add(counter("cgroup.cpu_periods"))),
        throttled_periods_(series.add(counter("cgroup.cpu_throttled_periods"))),
        throttled_(series.add(counter("cgroup.cpu_throttled"))) {
    if (!memory_.folders.empty()) {
      const std::string& folder = memory_.folders.front();
      const bool second = memory_.second;
      usage_file_ = RereadFile(folder + (second ? "/memory.current" : "/memory.usage_in_bytes"));
      events_file_ = RereadFile(folder + (second ? "/memory.events" : "/memory.oom_control"));
      if (!second) failures_file_ = RereadFile(folder + "/memory.failcnt");
    }
    if (cpu_.folders.empty()) return;
    cpu_file_ = RereadFile(throttling_folder() + "/cpu.stat");
    if (!cpu_.second) return;
    const std::string& folder = cpu_.folders.front();
    const CounterSpec* const specs[] = {&counter("cgroup.pressure.cpu"),
                                        &counter("cgroup.pressure.memory"),
                                        &counter("cgroup.pressure.io")};
    const std::string_view files[] = {"/cpu.pressure", "/memory.pressure", "/io.pressure"};
    for (std::size_t i = 0; i < std::size(pressures_); ++i) {
      pressures_[i] = {RereadFile(folder + std::string(files[i])), series.add(*specs[i])};
    }
  }

  void sample(const Tick& tick, Series& series) override {
    if (tick.slow) put_limits(tick, series);
    if (const auto used = whole_integer(usage_file_.read(buffer_))) {
      series.put(tick.time, used_, static_cast<double>(*used));
    }
    if (!tick.brisk) return;
    put_events(tick, series);
    if (const auto stat = parse_cpu_stat(cpu_file_.read(buffer_))) {
      series.put(tick.time, periods_, static_cast<double>(stat->periods));
      series.put(tick.time, throttled_periods_, static_cast<double>(stat->throttled_periods));
      series.put(tick.time, throttled_, stat->throttled_seconds);
    }
    for (const PressureLine& line : pressures_) {
      const auto pressure = parse_pressure(line.file.read(buffer_));
      if (pressure)
        series.put(tick.time, line.handle, kMicro * static_cast<double>(pressure->some));
    }
  }

 private:
  struct PressureLine {
    RereadFile file;
    Series::Handle handle = 0;
  };

  /// The group whose limit holds: its own counters say how often it was met.
  [[nodiscard]] std::string throttling_folder() const {
    for (const std::string& folder : cpu_.folders) {
      CgroupFolders only{.second = cpu_.second, .folders = {folder}};
      if (read_cgroup_limits({}, only).cores) return folder;
    }
    return cpu_.folders.front();
  }

  void put_limits(const Tick& tick, Series& series) {
    const CgroupLimits limits = read_cgroup_limits(memory_, cpu_);
    if (limits.memory_bytes) {
      series.put(tick.time, limit_, static_cast<double>(*limits.memory_bytes));
    }
    if (limits.cores) series.put(tick.time, cores_, *limits.cores);
  }

  void put_events(const Tick& tick, Series& series) {
    const std::string_view events = events_file_.read(buffer_);
    if (const auto kills = keyed_integer(events, "oom_kill")) {
      series.put(tick.time, kills_, static_cast<double>(*kills));
    }
    const auto reached =
        memory_.second ? keyed_integer(events, "max") : whole_integer(failures_file_.read(buffer_));
    if (reached) series.put(tick.time, reached_, static_cast<double>(*reached));
  }

  CgroupFolders memory_;
  CgroupFolders cpu_;
  Series::Handle used_;
  Series::Handle limit_;
  Series::Handle reached_;
  Series::Handle kills_;
  Series::Handle cores_;
  Series::Handle periods_;
  Series::Handle throttled_periods_;
  Series::Handle throttled_;
  RereadFile usage_file_;
  RereadFile events_file_;
  RereadFile failures_file_;
  RereadFile cpu_file_;
  PressureLine pressures_[3];
  std::string buffer_;
};

Opened open(Surroundings& surroundings, Series& series) {
  // The launcher's own group: what it starts inherits it.
  CgroupFolders memory = find_cgroup(surroundings.roots, "self", "memory");
  CgroupFolders cpu = find_cgroup(surroundings.roots, "self", "cpu");
  if (memory.folders.empty() && cpu.folders.empty()) {
    return {.source = nullptr,
            .missing = {{.what = "limits of the container",
                         .why = "no control group for memory or processors is visible",
                         .remedy = "mount cgroup2 on /sys/fs/cgroup, read-only is enough",
                         .whole_source = true}}};
  }
  return {.source = std::make_unique<Cgroup>(std::move(memory), std::move(cpu), series),
          .missing = {}};
}

}  // namespace
}  // namespace cgroup_reader

SourceSpec cgroup_source() {
  return {
      .name = "cgroup",
      .title = "limits of the container",
      .lost =
          "cgroup.*; throttling by the container's processor limit, nearness to its memory limit",
      .lane = Lane::host,
      .open = cgroup_reader::open,
      .counters = cgroup_reader::kCounters};
}

}  // namespace fathom::monitor
