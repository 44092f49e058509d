// Parses the text files of /proc and /sys.
#include "monitor/proc_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>

namespace fathom::monitor {
namespace {

constexpr std::int64_t kKibi = 1024;

/// Takes `count` numbers off; false when one is missing.
bool take_integers(std::string_view& text, std::int64_t* into, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = take_integer(text);
    if (!number) return false;
    into[i] = *number;
  }
  return true;
}

/// Takes numbers off until one is missing; how many there were.
std::size_t take_up_to(std::string_view& text, std::int64_t* into, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = take_integer(text);
    if (!number) return i;
    into[i] = *number;
  }
  return count;
}

/// The sum; the largest number where it does not fit.
std::int64_t sum(std::initializer_list<std::int64_t> numbers) {
  std::int64_t total = 0;
  for (const std::int64_t number : numbers) {
    if (__builtin_add_overflow(total, number, &total)) return INT64_MAX;
  }
  return total;
}

std::optional<CpuTicks> parse_cpu(std::string_view numbers) {
  // user nice system idle iowait irq softirq steal; old kernels stop earlier.
  std::int64_t at[8] = {};
  if (take_up_to(numbers, at, 8) < 4) return {};
  return CpuTicks{
      .busy = sum({at[0], at[1], at[2], at[5], at[6]}), .io_wait = at[4], .stolen = at[7]};
}

std::int64_t bytes_of(std::string_view text, std::string_view key) {
  const std::int64_t kibi = keyed_integer(text, key).value_or(0);
  return kibi > INT64_MAX / kKibi ? 0 : kibi * kKibi;
}

std::optional<double> take_real(std::string_view& text) {
  skip_blanks(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// "total=123" in a line of pressure.
std::optional<std::int64_t> total_of(std::string_view line) {
  constexpr std::string_view kTotal = "total=";
  const std::size_t at = line.find(kTotal);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + kTotal.size());
  return take_integer(line);
}

/// A part of a disk, or none at all: what it reads is counted elsewhere or costs nothing.
bool is_whole_disk(std::string_view name) {
  constexpr std::string_view kNone[] = {"loop", "ram", "zram", "sr", "fd", "dm-", "md"};
  if (std::ranges::any_of(kNone, [&](std::string_view begin) { return name.starts_with(begin); }))
    return false;
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == name.size()) return true;  // sda, vdb
  // nvme0n1 and mmcblk0 are whole, nvme0n1p2 and mmcblk0p1 parts, sda1 a part.
  if (!name.starts_with("nvme") && !name.starts_with("mmcblk")) return false;
  return name[digits - 1] != 'p';
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  ProcessStat stat;
  const auto pid = take_integer(text);
  // The name may hold anything, ") S 1" too: it ends at the last parenthesis.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (!pid || open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return {};
  }
  stat.pid = static_cast<std::int32_t>(*pid);
  stat.name = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);
  const std::string_view state = take_word(text);
  if (state.size() != 1) return {};
  stat.state = state.front();
  // Fields 4 to 24 of proc(5), the first of which is the parent.
  std::int64_t at[21] = {};
  if (!take_integers(text, at, 21)) return {};
  stat.parent = static_cast<std::int32_t>(at[0]);
  stat.session = static_cast<std::int32_t>(at[2]);
  stat.minor_faults = at[6];
  stat.major_faults = at[8];
  stat.user_ticks = at[10];
  stat.system_ticks = at[11];
  stat.threads = at[16];
  stat.start_ticks = at[18];
  stat.resident_pages = at[20];
  // Field 42, delayacct_blkio_ticks.
  std::int64_t rest[18] = {};
  if (take_up_to(text, rest, 18) == 18) stat.io_wait_ticks = rest[17];
  return stat;
}

std::optional<ProcessIo> parse_process_io(std::string_view text) {
  const auto calls = keyed_integer(text, "rchar");
  const auto read = keyed_integer(text, "read_bytes");
  const auto written = keyed_integer(text, "write_bytes");
  if (!calls || !read || !written) return {};
  return ProcessIo{.read_calls = *calls, .read = *read, .written = *written};
}

std::optional<ProcessSwitches> parse_process_switches(std::string_view text) {
  const auto voluntary = keyed_integer(text, "voluntary_ctxt_switches");
  const auto involuntary = keyed_integer(text, "nonvoluntary_ctxt_switches");
  if (!voluntary || !involuntary) return {};
  return ProcessSwitches{.voluntary = *voluntary, .involuntary = *involuntary};
}

std::optional<MachineStat> parse_machine_stat(std::string_view text) {
  MachineStat stat;
  bool any = false;
  while (text.starts_with("cpu")) {
    std::string_view line = take_line(text);
    line.remove_prefix(3);
    const bool all = line.starts_with(' ');
    const auto number = all ? std::optional<std::int64_t>(0) : take_integer(line);
    const auto ticks = parse_cpu(line);
    if (!number || !ticks) continue;
    if (all) {
      stat.all = *ticks;
      any = true;
    } else {
      stat.each.emplace_back(static_cast<std::int32_t>(*number), *ticks);
    }
  }
  if (!any) return {};
  return stat;
}

std::optional<MemoryInfo> parse_memory_info(std::string_view text) {
  if (!keyed_integer(text, "MemTotal") || !keyed_integer(text, "MemAvailable")) return {};
  return MemoryInfo{.total = bytes_of(text, "MemTotal"),
                    .available = bytes_of(text, "MemAvailable"),
                    .swap_total = bytes_of(text, "SwapTotal"),
                    .swap_free = bytes_of(text, "SwapFree")};
}

std::optional<PagingCounts> parse_paging(std::string_view text) {
  const auto faults = keyed_integer(text, "pgmajfault");
  if (!faults) return {};
  return PagingCounts{.swapped_in = keyed_integer(text, "pswpin").value_or(0),
                      .swapped_out = keyed_integer(text, "pswpout").value_or(0),
                      .major_faults = *faults};
}

std::optional<LoadAverage> parse_load(std::string_view text) {
  LoadAverage load;
  const auto minute = take_real(text);
  if (!minute || !take_real(text) || !take_real(text)) return {};
  load.minute = *minute;
  const auto running = take_integer(text);
  if (!running || !text.starts_with('/')) return {};
  text.remove_prefix(1);
  const auto tasks = take_integer(text);
  const auto last = take_integer(text);
  if (!tasks || !last) return {};
  load.running = *running;
  load.tasks = *tasks;
  load.last_pid = *last;
  return load;
}

std::optional<Pressure> parse_pressure(std::string_view text) {
  Pressure pressure;
  bool any = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto total = total_of(line);
    if (!total) continue;
    if (line.starts_with("some ")) {
      pressure.some = *total;
      any = true;
    } else if (line.starts_with("full ")) {
      pressure.full = *total;
    }
  }
  if (!any) return {};
  return pressure;
}

std::vector<Interface> parse_interfaces(std::string_view text) {
  std::vector<Interface> interfaces;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::size_t colon = line.rfind(':');  // "eth0:1: 5 …": an alias has one of its own
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    skip_blanks(name);
    line.remove_prefix(colon + 1);
    std::int64_t at[9] = {};
    if (name.empty() || !take_integers(line, at, 9)) continue;
    interfaces.push_back({.name = std::string(name), .received = at[0], .sent = at[8]});
  }
  return interfaces;
}

std::vector<Disk> parse_disks(std::string_view text) {
  std::vector<Disk> disks;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!take_integer(line) || !take_integer(line)) continue;
    const std::string_view name = take_word(line);
    // reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, ms busy.
    std::int64_t at[10] = {};
    if (!take_integers(line, at, 10) || !is_whole_disk(name)) continue;
    if (at[0] == 0 && at[4] == 0) continue;
    disks.push_back({.name = std::string(name),
                     .read_sectors = at[2],
                     .written_sectors = at[6],
                     .busy_ms = at[9]});
  }
  return disks;
}

std::int64_t count_list(std::string_view text) {
  std::int64_t count = 0;
  while (true) {
    const auto first = take_integer(text);
    if (!first || *first < 0) return 0;
    std::int64_t last = *first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      const auto end = take_integer(text);
      if (!end || *end < *first) return 0;
      last = *end;
    }
    count = sum({count, last - *first, 1});
    if (!text.starts_with(',')) return count;
    text.remove_prefix(1);
  }
}

}  // namespace fathom::monitor
