// Every counter of telemetry: its name, unit and source. Shared by what records and what reads.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fathom {

enum class CounterKind : std::uint8_t {
  level,  ///< What holds at that moment.
  total,  ///< Since some beginning: only differences mean something.
};

/// Whose counter it is, and so which of its pid and device are set.
enum class CounterOf : std::uint8_t { machine, process, gpu };

struct CounterSpec {
  /// "gpu.power". A `*` stands for the name of an instance: "network.*.received".
  std::string_view name;
  std::string_view unit;
  CounterKind kind;
  CounterOf of;
  std::string_view source;  ///< Where it is read.
  std::string_view doc;
};

/// All of them, in the order of docs/capture-reference.md.
inline constexpr CounterSpec kCounters[] = {
    // Processes of the captured tree.
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
    // The machine.
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
    {"network.*.received", "bytes", CounterKind::total, CounterOf::machine, "/proc/net/dev",
     "received by that interface"},
    {"network.*.sent", "bytes", CounterKind::total, CounterOf::machine, "/proc/net/dev",
     "sent by that interface"},
    {"disk.*.read", "bytes", CounterKind::total, CounterOf::machine, "/proc/diskstats",
     "read from that disk"},
    {"disk.*.written", "bytes", CounterKind::total, CounterOf::machine, "/proc/diskstats",
     "written to that disk"},
    {"disk.*.busy", "seconds", CounterKind::total, CounterOf::machine, "/proc/diskstats",
     "time in which that disk had something to do"},
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
    {"energy.*", "joules", CounterKind::total, CounterOf::machine, "/sys/class/powercap",
     "energy of that processor package, or of a part of it"},
    // GPUs.
    {"gpu.utilization", "percent", CounterKind::level, CounterOf::gpu, "NVML",
     "share of the last fraction of a second in which any kernel ran"},
    {"gpu.memory_utilization", "percent", CounterKind::level, CounterOf::gpu, "NVML",
     "share of it in which memory was read or written"},
    {"gpu.memory_used", "bytes", CounterKind::level, CounterOf::gpu, "NVML", "memory in use"},
    {"gpu.memory_total", "bytes", CounterKind::level, CounterOf::gpu, "NVML", "memory installed"},
    {"gpu.power", "watts", CounterKind::level, CounterOf::gpu, "NVML",
     "power of the board, averaged by the driver over up to a second"},
    {"gpu.power_limit", "watts", CounterKind::level, CounterOf::gpu, "NVML",
     "the limit that is enforced"},
    {"gpu.energy", "joules", CounterKind::total, CounterOf::gpu, "NVML",
     "energy of the board since its driver was loaded (Volta and later)"},
    {"gpu.sm_clock", "MHz", CounterKind::level, CounterOf::gpu, "NVML", "clock of the processors"},
    {"gpu.memory_clock", "MHz", CounterKind::level, CounterOf::gpu, "NVML", "clock of the memory"},
    {"gpu.sm_clock_max", "MHz", CounterKind::level, CounterOf::gpu, "NVML",
     "the highest that the board allows"},
    {"gpu.memory_clock_max", "MHz", CounterKind::level, CounterOf::gpu, "NVML",
     "the highest that the board allows"},
    {"gpu.temperature", "celsius", CounterKind::level, CounterOf::gpu, "NVML",
     "temperature of the chip"},
    {"gpu.performance_state", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "0 is the fastest, 15 the slowest"},
    {"gpu.clock_reasons", "bits", CounterKind::level, CounterOf::gpu, "NVML",
     "why clocks are not higher: nvmlClocksEventReason…, as NVML numbers them"},
    {"gpu.throttle.idle", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 0: nothing runs"},
    {"gpu.throttle.clock_setting", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 1: clocks were set by somebody"},
    {"gpu.throttle.power_cap", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 2: the power limit is met"},
    {"gpu.throttle.hw_slowdown", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 3: the hardware slows down, for heat or power"},
    {"gpu.throttle.sync_boost", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 4: waits for a slower GPU of its group"},
    {"gpu.throttle.sw_thermal", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 5: too hot, by the driver's measure"},
    {"gpu.throttle.hw_thermal", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 6: too hot, by the hardware's measure"},
    {"gpu.throttle.power_brake", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 7: the power supply asks for less"},
    {"gpu.throttle.display", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 8: held back by the display's clock"},
    {"gpu.pcie_sent", "bytes", CounterKind::total, CounterOf::gpu, "NVML",
     "sent over PCIe, where the driver counts it"},
    {"gpu.pcie_received", "bytes", CounterKind::total, CounterOf::gpu, "NVML",
     "received over PCIe, where the driver counts it"},
    {"gpu.pcie_send_rate", "bytes/s", CounterKind::level, CounterOf::gpu, "NVML",
     "elsewhere: sent over PCIe in 20 ms"},
    {"gpu.pcie_receive_rate", "bytes/s", CounterKind::level, CounterOf::gpu, "NVML",
     "elsewhere: received over PCIe in 20 ms"},
    {"gpu.pcie_generation", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "generation of the link as it runs now"},
    {"gpu.pcie_width", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "lanes of the link as it runs now"},
    {"gpu.ecc_corrected", "count", CounterKind::total, CounterOf::gpu, "NVML",
     "memory errors that were corrected, since the driver was loaded"},
    {"gpu.ecc_uncorrected", "count", CounterKind::total, CounterOf::gpu, "NVML",
     "memory errors that were not"},
    {"gpu.processes", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "processes that use it to compute"},
    {"gpu.other_processes", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "those outside of the captured tree"},
    {"gpu.memory_by_others", "bytes", CounterKind::level, CounterOf::gpu, "NVML",
     "memory that these hold, where it is told"},
    // The observer.
    {"monitor.cpu", "seconds", CounterKind::total, CounterOf::machine, "getrusage",
     "processor time that taking these samples took"},
    {"monitor.missed", "count", CounterKind::total, CounterOf::machine, "clock",
     "samples that could not be taken in time"},
};

inline constexpr std::span<const CounterSpec> all_counters() { return kCounters; }

/// The counter of that name. A name that is not in the table does not compile.
consteval const CounterSpec& counter(std::string_view name) {
  for (const CounterSpec& spec : kCounters) {
    if (spec.name == name) return spec;
  }
  throw "no such counter";
}

}  // namespace fathom
