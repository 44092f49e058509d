// Health of the clock: durations that cannot be, times too coarse, and work that outlives a wait
// for it.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "analysis/health/checks.h"

namespace fathom {
namespace {

constexpr std::string_view kSection = "time";
/// Of a base that states no error (Kineto): what it was found within, ns (docs/formats.md).
constexpr std::int64_t kUnstatedClockError = 10'000;

void check_repaired_times(const HealthInput& input, Health& health) {
  struct Kind {
    Repair repair;
    std::string_view id, what;
    HealthWords words;
  };
  const Kind kinds[] = {
      {Repair::negative_duration,
       "negative_durations",
       "slices had a negative duration",
       {"they count as zero", "totals of the names concerned", ""}},
      {Repair::absurd_duration,
       "absurd_durations",
       "slices had an impossible duration",
       {"they count as zero", "totals of the names concerned", ""}},
      {Repair::zero_time,
       "lost_times",
       "events had neither time nor duration",
       {"they are not in the tables", "totals and counts", "record again"}},
  };
  const std::uint64_t slices = input.trace().slices.size();
  for (const Kind& kind : kinds) {
    const RepairCount& found = input.trace().import[kind.repair];
    const std::uint64_t of = kind.repair == Repair::zero_time ? slices + found.count : slices;
    HealthCheck& check =
        add_share(health, kSection, kind.id, kind.what, found.count, of, {0, 0.01}, kind.words);
    check.loss = kind.repair == Repair::zero_time;
    if (found.count == 0) continue;
    check.example = "byte " + std::to_string(found.first_offset);
    if (!found.example.empty()) check.example += ": " + found.example;
  }
}

void check_zero_durations(const HealthInput& input, Health& health) {
  const HealthTally& tally = input.tally;
  const auto count = [&tally](std::initializer_list<SliceKind> kinds) {
    std::uint64_t sum = 0;
    for (const SliceKind kind : kinds) sum += tally.zero_durations[static_cast<std::size_t>(kind)];
    return sum;
  };
  const auto first = [&tally](std::initializer_list<SliceKind> kinds) {
    SliceId id;
    for (const SliceKind kind : kinds)
      id = std::min(id, tally.first_zero[static_cast<std::size_t>(kind)]);
    return id;
  };
  const auto device = {SliceKind::kernel, SliceKind::memcpy, SliceKind::memset};
  add_share(health, kSection, "zero_durations_device", "device activities last 0 ns", count(device),
            tally.activities(), {0.01, kNever},
            {"short activities are counted as 0 ns", "kernel totals, utilisation",
             "a newer recorder writes nanoseconds"})
      .example = example_of(input.trace(), first(device));
  const auto host = {SliceKind::cpu_op, SliceKind::user_annotation, SliceKind::runtime,
                     SliceKind::driver};
  std::uint64_t of = 0;
  for (const SliceKind kind : host) of += tally.of(kind);
  add_share(health, kSection, "zero_durations_host", "host slices last 0 ns", count(host), of,
            {kNever, kNever},
            {"short operators and calls are counted as 0 ns", "host self time of short operators",
             "a newer recorder writes nanoseconds"})
      .example = example_of(input.trace(), first(host));
}

void check_resolution(const HealthInput& input, Health& health) {
  const std::uint64_t slices = input.trace().slices.size();
  const bool coarse = input.tally.whole_microseconds && slices > 1;
  add_check(health, kSection, "time_resolution", "slices, and all times are whole microseconds",
            slices == 0 ? CheckStatus::not_applicable
            : coarse    ? CheckStatus::note
                        : CheckStatus::ok,
            coarse ? slices : 0,
            {"each duration may be off by 1 µs", "short kernels, launch delay, self times",
             "PyTorch 2.4 and later write nanoseconds"});
}

/// Work launched before a device-wide wait began must have ended when that wait returns.
/// Only for processes that use one device: a call waits for the current device, which is not
/// recorded.
void check_waits(const HealthInput& input, Health& health) {
  const Trace& trace = input.trace();
  const Links& links = input.context.links();
  const bool one_device = input.context.timelines().devices.size() == 1;
  std::vector<SliceId> syncs = one_device ? input.tally.device_syncs : std::vector<SliceId>();
  std::ranges::sort(syncs, {}, [&trace](SliceId id) { return trace.slices.start[id.row()]; });
  const Duration tolerance = duration_ns(input.tally.whole_microseconds ? 2000 : 1000);
  std::uint64_t followed = 0;
  std::uint64_t late = 0;
  SliceId first;
  for (const SliceId activity :
       syncs.empty() ? std::span<const SliceId>() : std::span(links.activities)) {
    const SliceId launch = links.launch[activity.row()];
    if (!launch.valid()) continue;
    const auto sync =
        std::ranges::lower_bound(syncs, trace.slices.end(launch), {},
                                 [&trace](SliceId id) { return trace.slices.start[id.row()]; });
    if (sync == syncs.end() || trace.track(*sync).pid != trace.track(launch).pid) continue;
    ++followed;
    if (trace.slices.end(activity) <= trace.slices.end(*sync) + tolerance) continue;
    if (late++ == 0) first = activity;
  }
  add_share(health, kSection, "work_after_wait",
            "device activities still run after a device-wide wait for them", late, followed,
            {0.001, 0.05},
            {"host and device clocks disagree", "launch delay, idle causes, step windows",
             "the recorder's clock conversion is off; compare with a newer driver or recorder"})
      .example = example_of(trace, first);
}

/// The number in a fact; 0 where it is none.
std::int64_t number_in(const Fact& fact) {
  std::string_view text = fact.value;
  if (text.starts_with('"')) text.remove_prefix(1);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::uint64_t count_in(const Trace& trace, std::string_view key) {
  const Fact* const fact = trace.fact(key);
  return fact == nullptr ? 0
                         : static_cast<std::uint64_t>(std::max<std::int64_t>(0, number_in(*fact)));
}

/// Files of one session, each with what it states of its clock and how far it was found off.
void check_sources(const HealthInput& input, Health& health) {
  constexpr std::string_view kError = "error_ns ";
  const Trace& trace = input.trace();
  std::uint64_t sources = 0;
  bool off = false;
  std::string said;
  for (const Fact& fact : trace.facts) {
    const std::size_t at = fact.key.find(kError);
    if (at == std::string::npos || fact.key.find("clock") > at) continue;
    const std::string name = fact.key.substr(at + kError.size());
    const std::int64_t error = number_in(fact);
    const Fact* const offset = trace.fact("clock_offset_ns " + name);
    said += (said.empty() ? "" : "; ") + name + (fact.key.starts_with("cuda") ? " (device)" : "") +
            " within " + std::to_string(error) + " ns";
    if (offset != nullptr) said += ", found " + std::to_string(number_in(*offset)) + " ns off";
    off = off || (offset != nullptr && std::abs(number_in(*offset)) > error + kUnstatedClockError);
    ++sources;
  }
  if (sources == 0) return;
  add_check(health, kSection, "clocks_of_sources", "files were joined on the host's clock",
            off ? CheckStatus::warning : CheckStatus::ok, sources,
            {"a clock is farther off than it states", "times of its events beside others'", ""})
      .example = said;
  const std::uint64_t twice = count_in(trace, "activities_recorded_twice") +
                              count_in(trace, "calls_recorded_twice") +
                              count_in(trace, "ranges_recorded_twice");
  if (twice > 0) {
    add_check(health, kSection, "recorded_twice",
              "events were seen by two recorders, and are counted once", CheckStatus::ok, twice,
              {});
  }
  const std::uint64_t otherwise = count_in(trace, "activities_told_otherwise");
  if (otherwise == 0) return;
  add_check(health, kSection, "told_otherwise",
            "device activities of a second recorder are not in the first's", CheckStatus::warning,
            otherwise,
            {"they are left out: the two recorders cannot be matched",
             "work that the first one missed", "record with one of the two"});
}

}  // namespace

void check_time(const HealthInput& input, Health& health) {
  check_repaired_times(input, health);
  check_zero_durations(input, health);
  check_resolution(input, health);
  check_waits(input, health);
  check_sources(input, health);
}

}  // namespace fathom
