// Profiles made by hand, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/profile.h"

namespace fathom {

/// A row of equal time in each of `steps` steps.
inline ProfileRow made_row(WorkKey key, std::int64_t ns_per_step, std::int64_t calls_per_step,
                           std::int64_t steps = 8) {
  ProfileRow row;
  row.key = std::move(key);
  row.work.time_ns = ns_per_step * steps;
  row.work.calls = calls_per_step * steps;
  for (std::int64_t step = 0; step < steps; ++step)
    row.work.by_batch.add(static_cast<std::size_t>(step), ns_per_step);
  return row;
}

/// A row whose calls take these times in each of `steps` steps.
inline ProfileRow made_calls(WorkKey key, const std::vector<std::int64_t>& ns,
                             std::int64_t steps = 8) {
  std::int64_t sum = 0;
  for (const std::int64_t each : ns) sum += each;
  ProfileRow row = made_row(std::move(key), sum, static_cast<std::int64_t>(ns.size()), steps);
  for (const std::int64_t each : ns)
    row.occurrences.push_back({.time_ns = each * steps, .calls = steps});
  return row;
}

/// A recording whose steps are what its rows are.
inline Profile made_profile(std::vector<ProfileRow> rows, std::int64_t steps = 8) {
  Profile profile;
  profile.rows = std::move(rows);
  profile.batches.assign(static_cast<std::size_t>(steps), 1);
  for (std::int64_t step = 0; step < steps; ++step) {
    std::int64_t length = 0;
    for (const ProfileRow& row : profile.rows)
      length += row.work.by_batch[static_cast<std::size_t>(step)];
    profile.lengths_ns.push_back(length);
    profile.content += static_cast<std::uint64_t>(length);
  }
  profile.input = "made";
  profile.step_name = "ProfilerStep*";
  return profile;
}

inline WorkKey forward_key(std::string op, std::string shapes = {}, std::string types = {}) {
  return {.bucket = AnyBucket(HostBucket::forward),
          .op = std::move(op),
          .shapes = std::move(shapes),
          .types = std::move(types)};
}

}  // namespace fathom
