// memory: what the machine has left, and what it swaps.
#include <utility>

#include <unistd.h>

#include "monitor/proc_text.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace memory_reader {
namespace {

constexpr CounterSpec kCounters[] = {
    {"memory.total", "bytes", CounterKind::level, CounterOf::machine, "/proc/meminfo",
     "memory of the machine"},
    {"memory.available", "bytes", CounterKind::level, CounterOf::machine, "/proc/meminfo",
     "memory that programs can still get without swapping"},
    {"memory.swap_used", "bytes", CounterKind::level, CounterOf::machine, "/proc/meminfo",
     "swap space in use"},
    {"memory.swapped_in", "bytes", CounterKind::total, CounterOf::machine, "/proc/vmstat",
     "read back from swap space"},
    {"memory.swapped_out", "bytes", CounterKind::total, CounterOf::machine, "/proc/vmstat",
     "written to swap space"},
    {"memory.major_faults", "count", CounterKind::total, CounterOf::machine, "/proc/vmstat",
     "page faults that waited for a disk"},
};
/// One of them.
consteval const CounterSpec& counter(std::string_view name) { return counter_in(kCounters, name); }

class Memory : public Source {
 public:
  Memory(const Roots& roots, Series& series)
      : info_(roots.proc + "/meminfo"),
        counts_(roots.proc + "/vmstat"),
        page_bytes_(static_cast<double>(::sysconf(_SC_PAGESIZE))),
        total_(series.add(counter("memory.total"))),
        available_(series.add(counter("memory.available"))),
        swap_used_(series.add(counter("memory.swap_used"))),
        swapped_in_(series.add(counter("memory.swapped_in"))),
        swapped_out_(series.add(counter("memory.swapped_out"))),
        major_faults_(series.add(counter("memory.major_faults"))) {}

  void sample(const Tick& tick, Series& series) override {
    if (const auto info = parse_memory_info(info_.read(buffer_))) {
      series.put(tick.time, total_, static_cast<double>(info->total));
      series.put(tick.time, available_, static_cast<double>(info->available));
      series.put(tick.time, swap_used_, static_cast<double>(info->swap_total - info->swap_free));
    }
    if (!tick.slow) return;
    if (const auto counts = parse_paging(counts_.read(buffer_))) {
      series.put(tick.time, swapped_in_, page_bytes_ * static_cast<double>(counts->swapped_in));
      series.put(tick.time, swapped_out_, page_bytes_ * static_cast<double>(counts->swapped_out));
      series.put(tick.time, major_faults_, static_cast<double>(counts->major_faults));
    }
  }

 private:
  RereadFile info_;
  RereadFile counts_;
  const double page_bytes_;
  Series::Handle total_;
  Series::Handle available_;
  Series::Handle swap_used_;
  Series::Handle swapped_in_;
  Series::Handle swapped_out_;
  Series::Handle major_faults_;
  std::string buffer_;
};

Opened open(Surroundings& surroundings, Series& series) {
  if (std::string why = why_unreadable(surroundings.roots.proc + "/meminfo"); !why.empty()) {
    return {.source = nullptr,
            .missing = {{.what = "memory of the machine",
                         .why = std::move(why),
                         .remedy = "mount procfs on /proc",
                         .whole_source = true}}};
  }
  return {.source = std::make_unique<Memory>(surroundings.roots, series), .missing = {}};
}

}  // namespace
}  // namespace memory_reader

SourceSpec memory_source() {
  return {.name = "memory",
          .title = "memory and swap",
          .lost = "memory.*; whether the machine swaps",
          .lane = Lane::host,
          .open = memory_reader::open,
          .counters = memory_reader::kCounters};
}

}  // namespace fathom::monitor
