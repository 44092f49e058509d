// Schedule: what the scheduler counts for a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::sample {

struct Schedule {
  std::int64_t on_cpu = 0;    ///< ns so far.
  std::int64_t queued = 0;    ///< ns so far that it could have run but had to wait.
  std::int64_t switches = 0;  ///< How often it was given a processor.
};

/// Of /proc/PID/task/TID/schedstat. Nothing where it does not hold the times.
std::optional<Schedule> parse_schedule(std::string_view text);

}  // namespace fathom::sample
