// Parses /proc/PID/task/TID/schedstat.
#include "sample/schedule.h"

#include <charconv>

namespace fathom::sample {

std::optional<Schedule> parse_schedule(std::string_view text) {
  Schedule schedule;
  const char* const end = text.data() + text.size();
  const auto on_cpu = std::from_chars(text.data(), end, schedule.on_cpu);
  if (on_cpu.ec != std::errc() || on_cpu.ptr == end) return std::nullopt;
  const auto queued = std::from_chars(on_cpu.ptr + 1, end, schedule.queued);
  if (queued.ec != std::errc()) return std::nullopt;
  if (queued.ptr != end) std::from_chars(queued.ptr + 1, end, schedule.switches);
  return schedule;
}

}  // namespace fathom::sample
