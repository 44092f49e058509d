// Adds checks of health: one pass over all slices, and the judging of a share.
#include "analysis/health/checks.h"

#include <array>
#include <cstdio>

#include "analysis/structure/overhead.h"

namespace fathom {
namespace {

bool waits_for_device(std::string_view name) {
  return name == "cudaDeviceSynchronize" || name == "hipDeviceSynchronize" ||
         name == "cuCtxSynchronize";
}

void tally_call(const Trace& trace, const Links& links, SliceId slice, HealthTally& tally) {
  const CallKind kind = links.call_kind(trace, slice);
  if (starts_activity(kind)) ++tally.launching_calls;
  if (kind == CallKind::graph_launch) ++tally.graph_launches;
  if (kind == CallKind::synchronize && waits_for_device(trace.name(slice))) {
    tally.device_syncs.push_back(slice);
  }
}

}  // namespace

HealthTally tally_slices(const Trace& trace, const Links& links) {
  HealthTally tally;
  const Slices& slices = trace.slices;
  // Times count from an origin that need not be a whole microsecond; their distances show the
  // resolution.
  const std::int64_t phase = slices.size() == 0 ? 0 : to_ns(slices.start[0]) % 1000;
  for (std::size_t row = 0; row < slices.size(); ++row) {
    const SliceId slice(row);
    const SliceKind kind = trace.kind(slice);
    const auto index = static_cast<std::size_t>(kind);
    ++tally.by_kind[index];
    if (slices.duration[row] == Duration{}) {
      if (tally.zero_durations[index]++ == 0) tally.first_zero[index] = slice;
    }
    tally.whole_microseconds = tally.whole_microseconds &&
                               to_ns(slices.start[row]) % 1000 == phase &&
                               to_ns(slices.duration[row]) % 1000 == 0;
    if (is_runtime_call(kind)) {
      tally_call(trace, links, slice, tally);
    } else if (kind == SliceKind::overhead) {
      if (!is_overhead_of_cuda(trace.name(slice))) tally.overhead.push_back(slice);
    } else if (kind == SliceKind::sync) {
      tally.waits.push_back(slice);
    }
  }
  return tally;
}

std::vector<bool> answered_calls(const Trace& trace, const Links& links) {
  std::vector<bool> answered(trace.slices.size());
  for (const SliceId activity : links.activities) {
    if (const SliceId launch = links.launch[activity.row()]; launch.valid())
      answered[launch.row()] = true;
  }
  return answered;
}

HealthCheck& add_check(Health& health, std::string_view section, std::string_view id,
                       std::string_view what, CheckStatus status, std::uint64_t count,
                       HealthWords words) {
  HealthCheck& check = health.checks.emplace_back();
  check.section = section;
  check.id = id;
  check.what = what;
  check.status = status;
  check.count = count;
  if (status > CheckStatus::ok) {
    check.consequence = std::move(words.consequence);
    check.affects = std::move(words.affects);
    check.advice = std::move(words.advice);
  }
  return check;
}

HealthCheck& add_share(Health& health, std::string_view section, std::string_view id,
                       std::string_view what, std::uint64_t count, std::uint64_t of, Limits limits,
                       HealthWords words) {
  CheckStatus status = CheckStatus::ok;
  if (of == 0) {
    status = CheckStatus::not_applicable;
  } else if (count != 0) {
    const double share = static_cast<double>(count) / static_cast<double>(of);
    status = share > limits.bad       ? CheckStatus::bad
             : share > limits.warning ? CheckStatus::warning
                                      : CheckStatus::note;
  }
  HealthCheck& check = add_check(health, section, id, what, status, count, std::move(words));
  check.of = of;
  return check;
}

std::string example_of(const Trace& trace, SliceId slice) {
  if (!slice.valid()) return {};
  const double ms =
      static_cast<double>(to_ns(trace.slices.start[slice.row()] - trace.span.begin)) / 1e6;
  std::array<char, 40> at{};
  std::snprintf(at.data(), at.size(), " at %.6f ms", ms);
  return std::string(trace.name(slice)) + at.data();
}

}  // namespace fathom
