// processes: what each process of the tree uses, and the sum of their processor time.
#include <map>
#include <optional>
#include <utility>

#include <unistd.h>

#include "monitor/proc_text.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace processes_reader {
namespace {

constexpr CounterSpec kCounters[] = {
    {"process.cpu_user", "seconds", CounterKind::total, CounterOf::process, "/proc/PID/stat",
     "processor time in user mode, all threads"},
    {"process.cpu_system", "seconds", CounterKind::total, CounterOf::process, "/proc/PID/stat",
     "processor time in the kernel, all threads"},
    {"process.memory", "bytes", CounterKind::level, CounterOf::process, "/proc/PID/stat",
     "resident memory"},
    {"process.threads", "count", CounterKind::level, CounterOf::process, "/proc/PID/stat",
     "threads"},
    {"process.minor_faults", "count", CounterKind::total, CounterOf::process, "/proc/PID/stat",
     "page faults that needed no disk"},
    {"process.major_faults", "count", CounterKind::total, CounterOf::process, "/proc/PID/stat",
     "page faults that waited for a disk"},
    {"process.io_wait", "seconds", CounterKind::total, CounterOf::process, "/proc/PID/stat",
     "time blocked on disks, where the kernel counts it (delayacct)"},
    {"process.read", "bytes", CounterKind::total, CounterOf::process, "/proc/PID/io",
     "bytes fetched from storage"},
    {"process.written", "bytes", CounterKind::total, CounterOf::process, "/proc/PID/io",
     "bytes sent to storage"},
    {"process.read_calls", "bytes", CounterKind::total, CounterOf::process, "/proc/PID/io",
     "bytes that read calls returned, from caches and pipes too"},
    {"process.voluntary_switches", "count", CounterKind::total, CounterOf::process,
     "/proc/PID/status", "times its main thread waited for something"},
    {"process.involuntary_switches", "count", CounterKind::total, CounterOf::process,
     "/proc/PID/status", "times its main thread was displaced by another"},
};
/// One of them.
consteval const CounterSpec& counter(std::string_view name) { return counter_in(kCounters, name); }

/// Ticks after which a process that did nothing is looked at only once a second.
constexpr int kIdleTicks = 10;
/// Then its I/O and switches are read every so many seconds.
constexpr unsigned kSkippedLooks = 5;

class Processes : public Source {
 public:
  Processes(Surroundings& surroundings, double tick_seconds, double page_bytes)
      : surroundings_(surroundings), tick_seconds_(tick_seconds), page_bytes_(page_bytes) {}

  void sample(const Tick& tick, Series& series) override {
    for (const TreeProcess& process : surroundings_.tree.processes()) {
      if (!watched_.contains(process.pid)) watch(process, series);
    }
    double cpu = gone_cpu_;
    for (auto it = watched_.begin(); it != watched_.end();) {
      const bool alive = look(it->first, it->second, tick, series);
      const double used = it->second.cpu - it->second.cpu_before;
      cpu += used;
      if (!alive) {
        gone_cpu_ += used;
        for (const Series::Handle handle : it->second.handles) series.finish(handle);
      }
      it = alive ? std::next(it) : watched_.erase(it);
    }
    surroundings_.tree_cpu = cpu;
  }

 private:
  enum Column : std::size_t {
    user,
    system,
    memory,
    threads,
    minor_faults,
    major_faults,
    io_wait,
    read,
    written,
    read_calls,
    voluntary,
    involuntary,
  };
  static constexpr std::size_t kColumns = involuntary + 1;
  struct Watched {
    RereadFile stat;
    std::int64_t start_ticks = 0;
    double cpu = 0;
    double cpu_before = 0;  // what it had used before the tree was watched
    int idle = 0;           // looks without any use of the processor
    unsigned skipped = 0;   // slow looks while idle
    Series::Handle handles[kColumns] = {};
  };

  [[nodiscard]] std::string path(std::int32_t pid, std::string_view file) const {
    return surroundings_.roots.proc + "/" + std::to_string(pid) + "/" + std::string(file);
  }

  void watch(const TreeProcess& process, Series& series) {
    constexpr const CounterSpec* kSpecs[kColumns] = {
        &counter("process.cpu_user"),
        &counter("process.cpu_system"),
        &counter("process.memory"),
        &counter("process.threads"),
        &counter("process.minor_faults"),
        &counter("process.major_faults"),
        &counter("process.io_wait"),
        &counter("process.read"),
        &counter("process.written"),
        &counter("process.read_calls"),
        &counter("process.voluntary_switches"),
        &counter("process.involuntary_switches"),
    };
    Watched watched{.stat = RereadFile(path(process.pid, "stat")),
                    .start_ticks = process.start_ticks};
    const auto stat = parse_process_stat(watched.stat.read(buffer_));
    if (!stat || stat->start_ticks != process.start_ticks) return;
    if (process.older) watched.cpu_before = cpu_of(*stat);
    watched.cpu = watched.cpu_before;
    for (std::size_t i = 0; i < kColumns; ++i) {
      watched.handles[i] = series.add(*kSpecs[i], process.pid);
    }
    watched_.emplace(process.pid, std::move(watched));
  }

  [[nodiscard]] double seconds(std::int64_t ticks) const {
    return tick_seconds_ * static_cast<double>(ticks);
  }
  [[nodiscard]] double cpu_of(const ProcessStat& stat) const {
    return seconds(stat.user_ticks) + seconds(stat.system_ticks);
  }

  /// False: the process has ended.
  bool look(std::int32_t pid, Watched& watched, const Tick& tick, Series& series) {
    // Slow readings are spread over the second, so that no tick carries them all.
    const bool slow = (tick.number + static_cast<std::uint64_t>(pid)) % 10 == 0;
    if (watched.idle > kIdleTicks && !slow) return true;
    const auto stat = parse_process_stat(watched.stat.read(buffer_));
    if (!stat || stat->state == 'Z' || stat->state == 'X') return false;
    const double cpu = cpu_of(*stat);
    watched.idle = cpu == watched.cpu ? watched.idle + 1 : 0;
    watched.cpu = cpu;
    const auto put = [&](Column column, double value) {
      series.put(tick.time, watched.handles[column], value);
    };
    put(user, seconds(stat->user_ticks));
    put(system, seconds(stat->system_ticks));
    put(memory, page_bytes_ * static_cast<double>(stat->resident_pages));
    put(threads, static_cast<double>(stat->threads));
    put(minor_faults, static_cast<double>(stat->minor_faults));
    put(major_faults, static_cast<double>(stat->major_faults));
    if (stat->io_wait_ticks >= 0) put(io_wait, seconds(stat->io_wait_ticks));
    // Who computes nothing moves little data either: asked now and then.
    if (slow && (watched.idle <= kIdleTicks || watched.skipped++ % kSkippedLooks == 0)) {
      look_slowly(pid, put);
    }
    return true;
  }

  template <typename Put>
  void look_slowly(std::int32_t pid, const Put& put) {
    if (const auto io = parse_process_io(RereadFile(path(pid, "io")).read(buffer_))) {
      put(read, static_cast<double>(io->read));
      put(written, static_cast<double>(io->written));
      put(read_calls, static_cast<double>(io->read_calls));
    }
    const RereadFile status(path(pid, "status"));
    if (const auto switches = parse_process_switches(status.read(buffer_))) {
      put(voluntary, static_cast<double>(switches->voluntary));
      put(involuntary, static_cast<double>(switches->involuntary));
    }
  }

  Surroundings& surroundings_;
  const double tick_seconds_;
  const double page_bytes_;
  std::map<std::int32_t, Watched> watched_;
  double gone_cpu_ = 0;
  std::string buffer_;
};

Opened open(Surroundings& surroundings, Series& /*series*/) {
  const std::string stat = surroundings.roots.proc + "/self/stat";
  if (std::string why = why_unreadable(stat); !why.empty()) {
    return {.source = nullptr,
            .missing = {{.what = "processor, memory and I/O of processes",
                         .why = std::move(why),
                         .remedy = "mount procfs on /proc",
                         .whole_source = true}}};
  }
  Opened opened;
  if (std::string why = why_unreadable(surroundings.roots.proc + "/self/io"); !why.empty()) {
    opened.missing.push_back({.what = "I/O of processes",
                              .why = std::move(why),
                              .remedy = "a kernel with CONFIG_TASK_IO_ACCOUNTING",
                              .lost = "process.read, process.written, process.read_calls"});
  }
  opened.source =
      std::make_unique<Processes>(surroundings, 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)),
                                  static_cast<double>(::sysconf(_SC_PAGESIZE)));
  return opened;
}

}  // namespace
}  // namespace processes_reader

SourceSpec processes_source() {
  return {.name = "processes",
          .title = "processor, memory and I/O of each process",
          .lost = "process.*: processor time, memory and I/O of each process while it runs",
          .lane = Lane::host,
          .open = processes_reader::open,
          .counters = processes_reader::kCounters};
}

}  // namespace fathom::monitor
