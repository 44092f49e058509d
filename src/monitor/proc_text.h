// What the text files of Linux's /proc and /sys say: pure functions of text. Hostile or foreign
// text gives "not there", never more than what it holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_fields.h"

namespace fathom::monitor {

/// /proc/PID/stat. Times in clock ticks (sysconf(_SC_CLK_TCK) a second).
struct ProcessStat {
  std::int32_t pid = 0;
  std::string name;  ///< As the process calls itself: any bytes, blanks and parentheses too.
  char state = '?';
  std::int32_t parent = 0;
  std::int32_t session = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t user_ticks = 0;
  std::int64_t system_ticks = 0;
  std::int64_t threads = 0;
  std::int64_t start_ticks =
      0;  ///< Since boot: distinguishes a process from a later one of its pid.
  std::int64_t resident_pages = 0;
  std::int64_t io_wait_ticks = -1;  ///< -1 where the kernel is too old to say.
};
std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// /proc/PID/io, bytes.
struct ProcessIo {
  std::int64_t read_calls = 0;  ///< Returned by read(), whatever it came from.
  std::int64_t read = 0;        ///< From storage.
  std::int64_t written = 0;
};
std::optional<ProcessIo> parse_process_io(std::string_view text);

/// The end of /proc/PID/status.
struct ProcessSwitches {
  std::int64_t voluntary = 0;
  std::int64_t involuntary = 0;
};
std::optional<ProcessSwitches> parse_process_switches(std::string_view text);

/// Times of one processor, or of all, in ticks.
struct CpuTicks {
  std::int64_t busy = 0;  ///< user, nice, system, irq and softirq; guests are within user.
  std::int64_t io_wait = 0;
  std::int64_t stolen = 0;
};
struct MachineStat {
  CpuTicks all;
  std::vector<std::pair<std::int32_t, CpuTicks>> each;  ///< By number; offline ones are left out.
};
/// /proc/stat.
std::optional<MachineStat> parse_machine_stat(std::string_view text);

/// /proc/meminfo, bytes.
struct MemoryInfo {
  std::int64_t total = 0;
  std::int64_t available = 0;
  std::int64_t swap_total = 0;
  std::int64_t swap_free = 0;
};
std::optional<MemoryInfo> parse_memory_info(std::string_view text);

/// /proc/vmstat; pages and faults since boot.
struct PagingCounts {
  std::int64_t swapped_in = 0;
  std::int64_t swapped_out = 0;
  std::int64_t major_faults = 0;
};
std::optional<PagingCounts> parse_paging(std::string_view text);

/// /proc/loadavg.
struct LoadAverage {
  double minute = 0;
  std::int64_t running = 0;
  std::int64_t tasks = 0;
  std::int64_t last_pid = 0;  ///< The newest task: where it stands still, none was started.
};
std::optional<LoadAverage> parse_load(std::string_view text);

/// /proc/pressure/* and cgroup's *.pressure: microseconds since boot.
struct Pressure {
  std::int64_t some = 0;
  std::int64_t full = -1;  ///< -1 where it is not reported.
};
std::optional<Pressure> parse_pressure(std::string_view text);

/// A line of /proc/net/dev, bytes.
struct Interface {
  std::string name;
  std::int64_t received = 0;
  std::int64_t sent = 0;
};
std::vector<Interface> parse_interfaces(std::string_view text);

/// A line of /proc/diskstats.
struct Disk {
  std::string name;
  std::int64_t read_sectors = 0;  ///< Of 512 bytes, whatever the disk's are.
  std::int64_t written_sectors = 0;
  std::int64_t busy_ms = 0;
};
/// Whole disks that did anything: no partitions, loops or RAM disks.
std::vector<Disk> parse_disks(std::string_view text);

/// "0-3,8": how many numbers that names; 0 for what is not such a list.
std::int64_t count_list(std::string_view text);

}  // namespace fathom::monitor
