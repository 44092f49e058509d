#include "engine/predict.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/parallel.h"
#include "rules/recording_cost.h"

namespace fathom {
namespace {

/// Replays cost time: only what could give at least this share of the step is
/// predicted.
constexpr double kPredictPercent = 0.5;
/// What stays the same takes so much more or less in another recording of the same program;
/// docs/diagnosis.md says how much recordings differ.
constexpr double kBetweenRecordings = 0.05;

Duration scaled(Duration duration, double factor) {
  return duration_ns(static_cast<std::int64_t>(static_cast<double>(to_ns(duration)) * factor));
}

/// Step times of another recording after the change: the gain's ends, and what recordings differ
/// by.
RankedFinding::StepTime step_after(Duration now, const RankedFinding::Gain& gain) {
  const Duration shortest = scaled(now - gain.high, 1.0 - kBetweenRecordings);
  const Duration longest = scaled(now - gain.low, 1.0 + kBetweenRecordings);
  return {.low = std::max(shortest, Duration{}),
          .likely = now - gain.likely,
          .high = std::min(longest, now)};
}

}  // namespace

void predict(const RuleContext& rules, const Replay& replay, Diagnosis& diagnosis) {
  const Prediction now = replay.run({});
  const Duration step = duration_ns(std::llround(diagnosis.step_ns.mean));
  const Duration recording = recording_cost(rules);
  if (recording >= Duration{}) diagnosis.unprofiled_step = step - recording;
  std::vector<RankedFinding>& findings = diagnosis.findings;
  for_each_in_parallel(findings.size(), 0, [&](std::size_t i) {
    RankedFinding& ranked = findings[i];
    const Edits& edits = ranked.finding.edits;
    if (edits.empty() || ranked.percent < kPredictPercent) return;
    const Prediction then = replay.run(edits);
    const Duration likely = std::clamp(now.mean - then.mean, Duration{}, ranked.upper_bound);
    ranked.gain = RankedFinding::Gain{.low = scaled(likely, ranked.finding.pessimism),
                                      .likely = likely,
                                      .high = ranked.upper_bound};
    ranked.finding.assumption += "; at worst " +
                                 std::to_string(std::lround(100.0 * ranked.finding.pessimism)) +
                                 " % of that is gained";
    ranked.predicted = step_after(step, *ranked.gain);
    if (!diagnosis.unprofiled_step) return;
    const Duration unrecorded = std::min(removed_recording_cost(rules, edits), likely);
    ranked.unprofiled = std::max(*diagnosis.unprofiled_step - (likely - unrecorded), Duration{});
  });
}

}  // namespace fathom
