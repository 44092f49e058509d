// Reduces a recording to what a comparison needs.
#include "compare/profile.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "analysis/machine/telemetry.h"
#include "analysis/roofline/op_arguments.h"
#include "analysis/structure/stretches.h"
#include "analysis/structure/torch_names.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "compare/conditions.h"
#include "compare/counters.h"
#include "compare/step_windows.h"
#include "compare/work_collector.h"
#include "engine/diagnosis/judged_steps.h"

namespace fathom {
namespace {

constexpr std::size_t kMostBatches = 64;

/// Eight bytes at a time: names are most of what a recording has.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  while (!text.empty()) {
    std::uint64_t part = 0;
    const std::size_t bytes = std::min(text.size(), sizeof(part));
    std::memcpy(&part, text.data(), bytes);
    hash = hash_mix(hash, part);
    text.remove_prefix(bytes);
  }
  return hash;
}

/// Of all slices: when, how long, which name, with which arguments.
std::uint64_t content_of(const Trace& trace) {
  std::vector<std::uint64_t> names(trace.strings.size());
  for (std::size_t row = 0; row < names.size(); ++row)
    names[row] = hash_of(trace.strings.view(StringId(row)));
  const auto text = [&names](StringId id) {
    return id.valid() ? names[id.row()] : std::uint64_t{0};
  };
  std::vector<std::uint64_t> signatures;
  signatures.reserve(trace.signatures.size());
  for (const Signature& each : trace.signatures) {
    signatures.push_back(hash_mix(hash_mix(text(each.shapes), text(each.types)),
                                  hash_mix(text(each.strides), text(each.concrete))));
  }
  std::uint64_t hash = hash_mix(static_cast<std::uint64_t>(trace.origin_ns), trace.slices.size());
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    hash = hash_mix(hash, static_cast<std::uint64_t>(to_ns(trace.slices.start[row])) ^
                              names[trace.slices.name[row].row()]);
    hash = hash_mix(hash, static_cast<std::uint64_t>(to_ns(trace.slices.duration[row])));
    if (const Signature* const signature = signature_of(trace, SliceId(row)))
      hash =
          hash_mix(hash, signatures[static_cast<std::size_t>(signature - trace.signatures.data())]);
  }
  return hash;
}

bool has_any(const Trace& trace, bool (*is)(SliceKind)) {
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (is(trace.kind(SliceId(row)))) return true;
  }
  return false;
}

/// By step its batch: consecutive steps, as equally many as can be.
std::vector<std::uint32_t> batches_of(std::size_t steps, std::size_t batches) {
  std::vector<std::uint32_t> out(steps);
  for (std::size_t i = 0; i < steps; ++i) out[i] = static_cast<std::uint32_t>(i * batches / steps);
  return out;
}

/// Weighted by time, over the usual steps.
std::optional<double> clock_of(const Context& context, const UsualSteps& steps) {
  if (steps.device < 0) return std::nullopt;
  const Telemetry& telemetry = context.telemetry();
  const std::optional<std::int32_t> gpu = telemetry.gpu_of(steps.device);
  const CounterLine* const line = gpu ? telemetry.find("gpu.sm_clock", *gpu) : nullptr;
  if (line == nullptr) return std::nullopt;
  std::vector<Interval> windows;
  for (const Step* const step : steps.usual) windows.push_back(step->window);
  const std::optional<LevelSummary> clock = level(*line, merged(std::move(windows)));
  return clock ? std::optional(clock->mean) : std::nullopt;
}

}  // namespace

std::string_view AnyBucket::name() const {
  if (number_ < kBuckets) return to_string(static_cast<Bucket>(number_));
  if (number_ < kBuckets + kHostBuckets)
    return to_string(static_cast<HostBucket>(number_ - kBuckets));
  return "outside of the recording";
}

void WorkTime::add(const WorkTime& other) {
  time_ns += other.time_ns;
  calls += other.calls;
  by_batch.add(other.by_batch);
}

void Occurrence::add(const Occurrence& other) {
  time_ns += other.time_ns;
  calls += other.calls;
}

void add_occurrences(std::vector<Occurrence>& into, const std::vector<Occurrence>& more) {
  if (into.size() < more.size()) into.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) into[i].add(more[i]);
}

void ProfileRow::keep_whole_occurrences() {
  Occurrence sum;
  for (const Occurrence& each : occurrences) sum.add(each);
  if (sum.time_ns != work.time_ns || sum.calls != work.calls) occurrences.clear();
}

std::int64_t Profile::sum_ns() const {
  return std::accumulate(lengths_ns.begin(), lengths_ns.end(), std::int64_t{0});
}

bool same_recording(const Profile& a, const Profile& b) {
  return a.content == b.content && a.lengths_ns == b.lengths_ns && a.times_only == b.times_only;
}

std::vector<double> Profile::lengths() const {
  return unrounded_ns.empty() ? std::vector<double>(lengths_ns.begin(), lengths_ns.end())
                              : unrounded_ns;
}

Result<Profile> profile_of(const Session& session, const Request& request) {
  Result<Selection> selection = session.select(request);
  if (!selection) return std::move(selection).error();
  const Context context{session.trace(), session.analyses(), *selection, {}};
  const UsualSteps steps = usual_steps(context);
  if (steps.usual.empty())
    return Error{ErrorCode::unsupported,
                 session.input() + ": nothing in it takes time, so there is nothing to compare"};
  const StepWindows windows(steps.usual);
  Profile profile;
  profile.input = session.input();
  if (session.trace().origin_is_unix) {
    std::int64_t started = 0;
    if (!__builtin_add_overflow(session.trace().origin_ns, to_ns(session.trace().span.begin),
                                &started))
      profile.started_unix_ns = started;
  }
  if (session.trace().distributed) profile.rank = session.trace().distributed->rank;
  const Steps& all = context.steps();
  profile.step_name = all.source == StepSource::whole_trace ? "" : all.name;
  profile.steps_left_out = all.steps.size() - steps.usual.size();
  for (const Step* const step : steps.usual)
    profile.lengths_ns.push_back(to_ns(step->window.length()));
  profile.on_device = steps.device >= 0;
  profile.operators_recorded =
      has_any(session.trace(), [](SliceKind kind) { return kind == SliceKind::cpu_op; });
  profile.launches_recorded = has_any(session.trace(), is_runtime_call);
  const std::size_t batches = std::min(steps.usual.size(), kMostBatches);
  const std::vector<std::uint32_t> batch_of = batches_of(steps.usual.size(), batches);
  profile.batches.resize(batches);
  for (const std::uint32_t batch : batch_of) ++profile.batches[batch];
  const TorchNames names(session.trace());
  both_in_parallel(
      [&] {
        profile.rows = collect_work(context, {.names = names,
                                              .steps = steps.usual,
                                              .windows = windows,
                                              .batch_of = batch_of,
                                              .batches = batches,
                                              .device = steps.device});
      },
      [&] {
        profile.content = content_of(session.trace());
        profile.counters = collect_counters(context, names, windows, steps.device);
        profile.conditions = conditions_of(context, steps, windows);
        profile.clock_mhz = clock_of(context, steps);
      });
  return profile;
}

}  // namespace fathom
