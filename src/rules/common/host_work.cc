#include "rules/common/host_work.h"

#include <algorithm>

namespace fathom {

std::vector<SliceId> host_slices(const RuleContext& rules, const NameSet& names) {
  const Trace& trace = rules.trace();
  std::vector<SliceId> found;
  if (!names.any()) return found;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    if (names.contains(trace.slices.name[row]) && is_host_work(trace.kind(slice)) &&
        rules.counts(trace.slices.start[row])) {
      found.push_back(slice);
    }
  }
  return found;
}

std::vector<SliceId> top_operators(const RuleContext& rules, const Nesting::Thread& thread) {
  const Trace& trace = rules.trace();
  std::vector<SliceId> found;
  Time covered = Time::min();
  for (const SliceId slice : thread.slices) {
    const Time start = trace.slices.start[slice.row()];
    if (trace.kind(slice) != SliceKind::cpu_op || start < covered) continue;
    covered = trace.slices.end(slice);
    if (rules.counts(start)) found.push_back(slice);
  }
  return found;
}

SliceId outermost_op(const RuleContext& rules, SliceId slice) {
  const Column<SliceId>& parent = rules.context.nesting().parent;
  SliceId found;
  for (SliceId at = slice; at.valid(); at = parent[at.row()]) {
    if (rules.trace().kind(at) == SliceKind::cpu_op) found = at;
  }
  return found;
}

Duration claim_idle(const RuleContext& rules, const Interval& stretch,
                    std::initializer_list<Bucket> causes, std::vector<Claim>& claims,
                    double fraction, Duration budget) {
  const DeviceAccounting* const device = rules.accounting.find(rules.device);
  Duration sum{};
  if (device == nullptr) return sum;
  auto piece = std::ranges::upper_bound(device->pieces, stretch.begin, {},
                                        [](const IdlePiece& at) { return at.interval.end; });
  for (; piece != device->pieces.end() && piece->interval.begin < stretch.end && sum < budget;
       ++piece) {
    if (std::ranges::find(causes, piece->cause) == causes.end()) continue;
    const Duration idle = rules.counted({std::max(stretch.begin, piece->interval.begin),
                                         std::min(stretch.end, piece->interval.end)});
    const auto wanted = static_cast<std::int64_t>(static_cast<double>(to_ns(idle)) * fraction);
    const Duration time = std::min(duration_ns(wanted), budget - sum);
    if (time <= Duration{}) continue;
    claims.push_back({.device = rules.device, .gap = piece->gap, .time = time});
    sum += time;
  }
  return sum;
}

Duration idle_in(const RuleContext& rules, std::span<const Interval> stretches,
                 std::initializer_list<Bucket> causes) {
  std::vector<Claim> claims;
  Duration sum{};
  for (const Interval& stretch : stretches) sum += claim_idle(rules, stretch, causes, claims);
  return sum;
}

bool is_training(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Phases& phases = rules.context.phases();
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      const Phase phase = phases[slice];
      if ((phase == Phase::backward || phase == Phase::optimizer) &&
          rules.counts(trace.slices.start[slice.row()])) {
        return true;
      }
    }
  }
  return false;
}

bool enclosing_frame(const RuleContext& rules, SliceId frame, const NameSet& names) {
  return names.any() && enclosing(rules, frame, names).valid();
}

bool has_frames(const RuleContext& rules) { return !rules.context.nesting().frames.empty(); }

std::int64_t step_count(const RuleContext& rules) {
  return static_cast<std::int64_t>(std::max<std::size_t>(rules.steps.size(), 1));
}

Weight weight_of(const RuleContext& rules, Duration time, double warning, double critical) {
  const double percent = rules.percent(time);
  return percent >= critical  ? Weight::critical
         : percent >= warning ? Weight::warning
                              : Weight::note;
}

Evidence evidence_of(const RuleContext& rules, const std::vector<SliceId>& slices,
                     std::string text) {
  const Trace& trace = rules.trace();
  Evidence evidence;
  evidence.text = std::move(text);
  evidence.slices = costliest(trace, slices);
  if (!evidence.slices.empty()) {
    const SliceId worst = evidence.slices.front();
    evidence.where = Interval{trace.slices.start[worst.row()], trace.slices.end(worst)};
    evidence.location = rules.sites.of(worst);
  }
  return evidence;
}

std::string counted_noun(std::size_t count, std::string_view singular) {
  return count_text(static_cast<std::int64_t>(count)) + ' ' + std::string(singular) +
         (count == 1 ? "" : "s");
}

}  // namespace fathom
