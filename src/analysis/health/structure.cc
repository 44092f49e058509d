// Health of the timeline's shape: streams that run two things at once, calls that overlap, waits
// without an event.
#include <algorithm>

#include "analysis/health/checks.h"
#include "analysis/kernels/occupancy.h"

namespace fathom {
namespace {

constexpr std::string_view kSection = "structure";

/// Is overlap on a stream what that activity's device is made for? Such devices are looked up once.
class Dependents {
 public:
  explicit Dependents(const HealthInput& input) : trace_(input.trace()) {
    for (const DeviceTimeline& timeline : input.context.timelines().devices) {
      const Device* const device = device_properties(trace_, timeline.device);
      if (device != nullptr && overlaps_dependents(*device)) expected_.push_back(timeline.device);
    }
  }
  [[nodiscard]] bool overlap(SliceId activity) const {
    return std::ranges::find(expected_, trace_.track(activity).device) != expected_.end();
  }

 private:
  const Trace& trace_;
  std::vector<std::int32_t> expected_;
};

void check_stream_overlap(const HealthInput& input, Health& health) {
  const Trace& trace = input.trace();
  std::vector<Time> busy_until(trace.tracks.size(), Time::min());
  const Dependents dependents(input);
  std::uint64_t overlapping = 0;
  bool expected = true;
  SliceId first;
  for (const SliceId activity : input.context.links().activities) {
    Time& until = busy_until[trace.slices.track[activity.row()].row()];
    if (trace.slices.start[activity.row()] < until) {
      if (overlapping++ == 0) first = activity;
      expected = expected && dependents.overlap(activity);
    }
    until = std::max(until, trace.slices.end(activity));
  }
  add_share(health, kSection, "overlap_on_stream",
            "device activities start before the previous one of their stream ended", overlapping,
            input.tally.activities(), {expected ? kNever : 0.01, kNever},
            {"activities of one stream overlap", "sums of kernel time, which may exceed busy time",
             "expected with programmatic dependent launch and parallel graph branches; busy time "
             "is a union"})
      .example = example_of(trace, first);
}

void check_nesting(const HealthInput& input, Health& health) {
  const HealthTally& tally = input.tally;
  const std::uint64_t host = tally.of(SliceKind::cpu_op) + tally.of(SliceKind::user_annotation) +
                             tally.calls() + tally.of(SliceKind::other);
  const Nesting& nesting = input.context.nesting();
  add_share(health, kSection, "broken_nesting", "host slices overlap another one only partly",
            std::min(nesting.overlaps, host), host, {0.01, 0.10},
            {"some slices have no true parent", "self times around them", ""})
      .example = example_of(input.trace(), nesting.first_overlap);
}

/// The streams that some wait names but on which no activity was recorded.
void check_streams(const HealthInput& input, Health& health) {
  const Trace& trace = input.trace();
  std::vector<std::int64_t> waited;
  for (const SliceId wait : input.tally.waits) {
    const std::uint32_t detail = trace.slices.detail[wait.row()];
    if (detail != SliceId::kNone && trace.syncs.wait_stream[detail] >= 0) {
      waited.push_back(trace.syncs.wait_stream[detail]);
    }
  }
  std::ranges::sort(waited);
  waited.erase(std::unique(waited.begin(), waited.end()), waited.end());
  std::vector<bool> seen(waited.size());
  for (const SliceId activity :
       waited.empty() ? std::span<const SliceId>() : std::span(input.context.links().activities)) {
    const auto at = std::ranges::lower_bound(waited, trace.track(activity).stream);
    if (at != waited.end() && *at == trace.track(activity).stream) {
      seen[static_cast<std::size_t>(at - waited.begin())] = true;
    }
  }
  const auto missing = static_cast<std::uint64_t>(std::ranges::count(seen, false));
  HealthCheck& check =
      add_share(health, kSection, "missing_streams", "streams are waited for but show no activity",
                missing, waited.size(), {0, kNever},
                {"the work of a stream may be missing", "device times, idle causes",
                 "was the work there dropped, or launched before the recording?"});
  if (missing != 0) {
    const auto first = std::ranges::find(seen, false) - seen.begin();
    check.example = "stream " + std::to_string(waited[static_cast<std::size_t>(first)]);
  }
}

/// Event waits must name an event record that is in the trace and not later than the wait.
void check_event_waits(const HealthInput& input, Health& health) {
  const Trace& trace = input.trace();
  struct Wait {
    std::int64_t record;
    SliceId slice;
    bool found;
  };
  std::vector<Wait> waits;
  for (const SliceId slice : input.tally.waits) {
    const std::uint32_t detail = trace.slices.detail[slice.row()];
    if (detail == SliceId::kNone ||
        trace.text(trace.syncs.kind[detail]).find("Wait") == std::string_view::npos) {
      continue;
    }
    waits.push_back({trace.syncs.wait_correlation[detail], slice, false});
  }
  std::ranges::sort(waits, {}, &Wait::record);
  for (std::size_t row = 0; !waits.empty() && row < trace.slices.size(); ++row) {
    const SliceKind kind = trace.kind(SliceId(row));
    if (!is_runtime_call(kind)) continue;
    const std::int64_t record = trace.slices.correlation[row];
    auto wait = std::ranges::lower_bound(waits, record, {}, &Wait::record);
    for (; wait != waits.end() && wait->record == record; ++wait) {
      wait->found = wait->found || trace.slices.start[row] <= trace.slices.start[wait->slice.row()];
    }
  }
  const auto lost = std::ranges::count(waits, false, &Wait::found);
  HealthCheck& check =
      add_share(health, kSection, "event_waits_without_record",
                "stream waits name no event record that precedes them",
                static_cast<std::uint64_t>(lost), waits.size(), {0.01, kNever},
                {"dependencies between streams are unknown", "idle causes, what-if", ""});
  if (lost != 0)
    check.example = example_of(trace, std::ranges::find(waits, false, &Wait::found)->slice);
}

}  // namespace

void check_structure(const HealthInput& input, Health& health) {
  check_stream_overlap(input, health);
  check_nesting(input, health);
  check_streams(input, health);
  check_event_waits(input, health);
}

}  // namespace fathom
