// Health of the recording's settings: what profiling cost, and what it was not asked to record.
#include <algorithm>

#include "analysis/health/checks.h"
#include "analysis/lines/line_runs.h"
#include "analysis/structure/from_outside.h"

namespace fathom {
namespace {

constexpr std::string_view kSection = "recording";

/// Time covered by the profiler's own work inside the span of the trace.
Duration overhead_union(const HealthInput& input) {
  const Trace& trace = input.trace();
  std::vector<Interval> intervals;
  for (const SliceId slice : input.tally.overhead) {
    const Interval clipped{std::max(trace.slices.start[slice.row()], trace.span.begin),
                           std::min(trace.slices.end(slice), trace.span.end)};
    if (clipped.begin < clipped.end) intervals.push_back(clipped);
  }
  std::ranges::sort(intervals, {}, &Interval::begin);
  Duration sum{};
  Time until = trace.span.begin;
  for (const Interval& interval : intervals) {
    if (interval.end <= until) continue;
    sum += interval.end - std::max(until, interval.begin);
    until = interval.end;
  }
  return sum;
}

void check_overhead(const HealthInput& input, Health& health) {
  const Duration span = input.trace().span.length();
  const std::uint64_t events = input.tally.overhead.size();
  const double share = span <= Duration{} ? 0
                                          : static_cast<double>(to_ns(overhead_union(input))) /
                                                static_cast<double>(to_ns(span));
  const CheckStatus status = events == 0    ? CheckStatus::not_applicable
                             : share > 0.20 ? CheckStatus::bad
                             : share > 0.10 ? CheckStatus::warning
                                            : CheckStatus::ok;
  HealthCheck& check = add_check(
      health, kSection, "profiler_overhead", "stretches of profiler overhead", status, events,
      {"profiling distorts this run", "host times, idle time, the verdict",
       "record more steps, with fewer options (stacks and shapes cost most)"});
  if (events == 0) return;
  check.share = share;
  const auto longest = std::ranges::max_element(input.tally.overhead, {}, [&input](SliceId slice) {
    return input.trace().slices.duration[slice.row()];
  });
  check.example = example_of(input.trace(), *longest);
}

void add_recorded(Health& health, std::string_view id, std::string_view what, bool applies,
                  bool recorded, HealthWords words) {
  const CheckStatus status = !applies   ? CheckStatus::not_applicable
                             : recorded ? CheckStatus::ok
                                        : CheckStatus::note;
  add_check(health, kSection, id, what, status, status == CheckStatus::note ? 1 : 0,
            std::move(words))
      .stands_alone = true;
}

template <typename Ids>
bool any_valid(const Ids& ids) {
  return std::ranges::any_of(ids, [](StringId id) { return id.valid() && id.row() != 0; });
}

void check_options(const HealthInput& input, Health& health) {
  const Trace& trace = input.trace();
  const bool ops = input.tally.of(SliceKind::cpu_op) != 0;
  const bool device = input.tally.activities() != 0;
  const auto has = [&trace](StringId Signature::*field) {
    return std::ranges::any_of(trace.signatures, [field](const Signature& signature) {
      return (signature.*field).valid();
    });
  };
  add_recorded(health, "shapes_recorded", "input shapes were not recorded", ops,
               has(&Signature::shapes),
               {"no shapes", "--group-by shape, flops, roofline", "record_shapes=True"});
  add_recorded(
      health, "stacks_recorded", "Python stacks were not recorded", ops,
      input.tally.of(SliceKind::python_function) != 0 || any_valid(trace.ops.stack),
      {LineRuns::recorded(trace) ? "lines are known, what called them is not" : "no source lines",
       "modules, stacks with source, --group-by stack", "with_stack=True (slows the host)"});
  add_recorded(health, "memory_recorded", "allocator events were not recorded", ops,
               !trace.memory.time.empty(),
               {"no memory numbers", "memory columns of ops, peak memory", "profile_memory=True"});
  add_recorded(health, "device_properties", "device properties were not recorded", device,
               !trace.devices.empty(),
               {"the device's size is unknown", "SM efficiency, occupancy, waves",
                "a newer recorder writes them"});
  const bool configured = std::ranges::any_of(
      trace.launch_configs, [](const LaunchConfig& config) { return config.block[0] > 0; });
  add_recorded(health, "launch_configuration", "grid and block of kernels were not recorded",
               input.tally.of(SliceKind::kernel) != 0, configured,
               {"kernel geometry is unknown", "SM efficiency, occupancy, waves", ""});
}

bool complete(const Collective& collective) {
  return collective.name.valid() && collective.dtype.valid() && collective.in_elements != kAbsent &&
         collective.out_elements != kAbsent && collective.group_size != kAbsent;
}

/// The metadata of a communication kernel lies on the kernel, or on an operator around its launch.
bool has_collective(const HealthInput& input, const FromOutside& notes, SliceId kernel) {
  const std::vector<Collective>& all = input.trace().collectives;
  const Nesting& nesting = input.context.nesting();
  const auto complete_at = [&all](SliceId slice) {
    const auto at = std::ranges::lower_bound(all, slice, {}, &Collective::slice);
    return at != all.end() && at->slice == slice && complete(*at);
  };
  if (complete_at(kernel)) return true;
  const SliceId op = input.context.links().op[kernel.row()];
  return innermost_around(notes, nesting.parent, op, complete_at).valid();
}

void check_collectives(const HealthInput& input, Health& health) {
  const Trace& trace = input.trace();
  const Timelines& timelines = input.context.timelines();
  FromOutside notes;
  notes.resize(trace.slices.size());
  std::uint64_t kernels = 0;
  std::uint64_t incomplete = 0;
  SliceId first;
  for (const SliceId activity : input.context.links().activities) {
    if (trace.kind(activity) != SliceKind::kernel ||
        timelines.traits_of(trace, activity).kernel_class != KernelClass::communication) {
      continue;
    }
    ++kernels;
    if (has_collective(input, notes, activity)) continue;
    if (incomplete++ == 0) first = activity;
  }
  add_share(health, kSection, "collective_metadata",
            "communication kernels lack message size, type or group", incomplete, kernels,
            {kNever, kNever},
            {"messages are of unknown size", "bandwidth of collectives, waiting versus transfer",
             "PyTorch 2.4 and later record it (record_shapes=True)"})
      .example = example_of(trace, first);
}

}  // namespace

void check_recording(const HealthInput& input, Health& health) {
  check_overhead(input, health);
  check_options(input, health);
  check_collectives(input, health);
}

}  // namespace fathom
