// What the groups of health checks share: one pass over the slices, and a list that judges as it
// grows.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/health/health.h"

namespace fathom {

/// Counts of one pass over all slices.
struct HealthTally {
  std::array<std::uint64_t, kSliceKinds> by_kind{};
  std::array<std::uint64_t, kSliceKinds> zero_durations{};
  std::array<SliceId, kSliceKinds> first_zero;
  std::vector<SliceId> overhead;      ///< The profiler's own work.
  std::vector<SliceId> waits;         ///< cuda_sync records.
  std::vector<SliceId> device_syncs;  ///< Calls that wait for the whole device.
  std::uint64_t launching_calls = 0;  ///< Calls that start a kernel, copy, fill or graph.
  std::uint64_t graph_launches = 0;
  bool whole_microseconds = true;  ///< No time in the trace is finer than a microsecond.

  [[nodiscard]] std::uint64_t of(SliceKind kind) const {
    return by_kind[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::uint64_t activities() const {
    return of(SliceKind::kernel) + of(SliceKind::memcpy) + of(SliceKind::memset);
  }
  [[nodiscard]] std::uint64_t calls() const {
    return of(SliceKind::runtime) + of(SliceKind::driver);
  }
};
HealthTally tally_slices(const Trace& trace, const Links& links);

/// By slice: is it a call whose device activity was recorded?
std::vector<bool> answered_calls(const Trace& trace, const Links& links);

/// What a group of checks is given.
struct HealthInput {
  const Context& context;
  const HealthTally& tally;
  [[nodiscard]] const Trace& trace() const { return context.trace; }
};

/// What a check says once it has found something.
struct HealthWords {
  std::string consequence;
  std::string affects;
  std::string advice;
};

/// Shares above which a count is a warning, and above which it is bad; at or below the first it is
/// a note.
struct Limits {
  double warning = 0.01;
  double bad = 0.10;
};
inline constexpr double kNever = 2.0;

/// Adds a check that counts `count` of `of`: not applicable when `of` is 0, ok when `count` is 0,
/// else judged by its share. Returns it for further words; valid until the next one is added.
HealthCheck& add_share(Health& health, std::string_view section, std::string_view id,
                       std::string_view what, std::uint64_t count, std::uint64_t of, Limits limits,
                       HealthWords words);

/// Adds a check whose status was decided by the caller. Words are dropped when it is ok or not
/// applicable.
HealthCheck& add_check(Health& health, std::string_view section, std::string_view id,
                       std::string_view what, CheckStatus status, std::uint64_t count,
                       HealthWords words);

/// "name at 12.345 ms" for an example.
std::string example_of(const Trace& trace, SliceId slice);

void check_reading(const HealthInput& input, Health& health);
void check_links(const HealthInput& input, Health& health);
void check_time(const HealthInput& input, Health& health);
void check_structure(const HealthInput& input, Health& health);
void check_steps(const HealthInput& input, Health& health);
void check_recording(const HealthInput& input, Health& health);
void check_recorder(const HealthInput& input, Health& health);

}  // namespace fathom
