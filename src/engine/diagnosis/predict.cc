// Predicts by replay what each finding saves, and what the first ones save together.
#include "engine/diagnosis/predict.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "engine/diagnosis/cards.h"
#include "engine/diagnosis/combine_edits.h"
#include "rules/common/recording_cost.h"
#include "rules/rule.h"

namespace fathom {
namespace {

/// Replays cost time: only what could give at least this share of the step is
/// predicted.
constexpr double kPredictPercent = 0.5;
/// What else a finding may save after the others is replayed where it claims at least so much more
/// of the step, in percent, than it saves by itself.
constexpr double kHiddenPercent = 1;
/// What stays the same takes so much more or less in another recording of the same program;
/// docs/diagnosis.md says how much recordings differ.
constexpr double kBetweenRecordings = 0.05;
/// Operators of the host run quicker by up to so much once the work that emptied the caches before
/// them, or held their processors, is gone; docs/diagnosis.md has what was measured.
constexpr double kWarmCaches = 0.15;

Duration scaled(Duration duration, double factor) {
  return duration_ns(static_cast<std::int64_t>(static_cast<double>(to_ns(duration)) * factor));
}

/// Does the change take away work of the host that is no operator's computing, where the rest of
/// the step is the host's, too?
bool warms_caches(const RuleContext& rules, const Finding& finding) {
  switch (finding.family) {
    case Family::compute:
    case Family::memory_bandwidth:
    case Family::latency:
      return false;
    default:
      return rules.device < 0;
  }
}

/// Step times of another recording after the change: the gain's ends, and what recordings differ
/// by.
RankedFinding::StepTime step_after(Duration now, const RankedFinding::Gain& gain, bool warmer) {
  const double left = (1.0 - kBetweenRecordings) * (warmer ? 1.0 - kWarmCaches : 1.0);
  const Duration shortest = scaled(now - gain.high, left);
  const Duration longest = scaled(now - gain.low, 1.0 + kBetweenRecordings);
  return {.low = std::max(shortest, Duration{}),
          .likely = now - gain.likely,
          .high = std::min(longest, now)};
}

/// By predicted step: is it one of the outliers? O(n log n).
std::vector<bool> outliers_among(std::span<const Interval> windows, const Outliers& outliers) {
  const auto ends = [](Interval window) { return std::pair(window.begin, window.end); };
  std::vector<Interval> odd;
  for (const Step* const step : outliers.steps) odd.push_back(step->window);
  std::ranges::sort(odd, {}, ends);
  std::vector<bool> mask;
  for (const Interval window : windows)
    mask.push_back(std::ranges::binary_search(odd, ends(window), {}, ends));
  return mask;
}

/// The mean of the predicted steps that are no outliers; of all, where no other is predicted.
Duration mean_without(const std::vector<bool>& outlier, const Prediction& prediction) {
  Duration sum{};
  std::int64_t count = 0;
  for (std::size_t i = 0; i < prediction.steps.size(); ++i) {
    if (outlier[i]) continue;
    sum += prediction.steps[i];
    ++count;
  }
  return count == 0 ? prediction.mean : sum / count;
}

/// The findings that are predicted together, by number.
constexpr std::uint32_t kTogether = 3;

std::vector<const RankedFinding*> first_with_gain(const Diagnosis& diagnosis) {
  std::vector<const RankedFinding*> first;
  for (const RankedFinding& found : diagnosis.findings) {
    if (found.number == 0 || found.number > kTogether || !found.gain) continue;
    if (to_ns(found.gain->likely) > 0 || hides_behind_others(found)) first.push_back(&found);
  }
  return first;
}

/// At least the largest of the single gains, at most all the time that the findings claim.
RankedFinding::Gain joint_gain(const std::vector<const RankedFinding*>& findings, Duration gained) {
  RankedFinding::Gain largest;
  Duration claimed{};
  for (const RankedFinding* const found : findings) {
    largest.low = std::max(largest.low, found->gain->low);
    largest.likely = std::max(largest.likely, found->gain->likely);
    claimed += found->gain->high;
  }
  return {.low = largest.low,
          .likely = std::clamp(gained, largest.likely, std::max(largest.likely, claimed)),
          .high = std::max(largest.likely, claimed)};
}

/// The changes of all findings of other causes that are predicted.
std::vector<const Edits*> changes_of_others(const std::vector<RankedFinding>& findings,
                                            std::size_t own) {
  const std::string_view cause = cause_of(findings[own]);
  std::vector<const Edits*> changes;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const bool same = i == own || (!cause.empty() && cause_of(findings[i]) == cause);
    if (!same && findings[i].gain) changes.push_back(&findings[i].finding.edits);
  }
  return changes;
}

/// Does it claim more than it saves by itself?
bool may_hide(const RankedFinding& ranked) {
  if (!ranked.gain) return false;
  const auto hidden = static_cast<double>(to_ns(ranked.upper_bound - ranked.gain->likely));
  return hidden >= kHiddenPercent / 100 * static_cast<double>(to_ns(ranked.step));
}

/// What is saved after the others, of which each is a replay without and one with the change.
void predict_after_others(const std::vector<bool>& outlier, const Replay& replay,
                          std::vector<RankedFinding>& findings) {
  for_each_in_parallel(findings.size(), 0, [&](std::size_t i) {
    RankedFinding& ranked = findings[i];
    if (!may_hide(ranked)) return;
    std::vector<const Edits*> changes = changes_of_others(findings, i);
    if (changes.empty()) return;
    const Prediction without = replay.run(combine_edits(changes));
    changes.push_back(&ranked.finding.edits);
    const Prediction with = replay.run(combine_edits(changes));
    const bool every = find_rule(ranked.finding.rule)->every_step;
    const Duration gained = every ? without.mean - with.mean
                                  : mean_without(outlier, without) - mean_without(outlier, with);
    ranked.after_others = std::clamp(gained, ranked.gain->likely, ranked.upper_bound);
  });
}

}  // namespace

void predict(const RuleContext& rules, const Outliers& outliers, const Replay& replay,
             Diagnosis& diagnosis) {
  const Prediction now = replay.run({});
  const std::vector<bool> outlier = outliers_among(replay.predicted_windows(), outliers);
  const Duration usual_now = mean_without(outlier, now);
  const Duration usual = duration_ns(std::llround(diagnosis.usual_ns.mean));
  const Duration recording = recording_cost(rules);
  if (recording >= Duration{}) diagnosis.unprofiled_step = usual - recording;
  std::vector<RankedFinding>& findings = diagnosis.findings;
  for_each_in_parallel(findings.size(), 0, [&](std::size_t i) {
    RankedFinding& ranked = findings[i];
    const Edits& edits = ranked.finding.edits;
    if (edits.empty() || ranked.percent < kPredictPercent) return;
    const Prediction then = replay.run(edits);
    const bool every = find_rule(ranked.finding.rule)->every_step;
    const Duration gained = every ? now.mean - then.mean : usual_now - mean_without(outlier, then);
    const Duration likely = std::clamp(gained, Duration{}, ranked.upper_bound);
    ranked.gain = RankedFinding::Gain{.low = scaled(likely, ranked.finding.pessimism),
                                      .likely = likely,
                                      .high = ranked.upper_bound};
    const long least = std::lround(100.0 * ranked.finding.pessimism);
    ranked.finding.assumption +=
        least == 0 ? "; at worst nothing is saved"
                   : "; at worst " + std::to_string(least) + " % of that is saved";
    ranked.predicted = step_after(ranked.step, *ranked.gain, warms_caches(rules, ranked.finding));
    if (!diagnosis.unprofiled_step) return;
    const Duration unrecorded = std::min(removed_recording_cost(rules, edits), likely);
    ranked.unprofiled = std::max(*diagnosis.unprofiled_step - (likely - unrecorded), Duration{});
  });
  predict_after_others(outlier, replay, findings);
}

void predict_together(const RuleContext& rules, const Outliers& outliers, const Replay& replay,
                      Diagnosis& diagnosis) {
  const std::vector<const RankedFinding*> findings = first_with_gain(diagnosis);
  if (findings.size() < 2) return;
  std::vector<const Edits*> changes;
  Together together;
  bool every = false;
  bool warmer = false;
  for (const RankedFinding* const found : findings) {
    changes.push_back(&found->finding.edits);
    together.numbers.push_back(found->number);
    together.step = std::max(together.step, found->step);
    every = every || find_rule(found->finding.rule)->every_step;
    warmer = warmer || warms_caches(rules, found->finding);
  }
  const Prediction now = replay.run({});
  const Prediction then = replay.run(combine_edits(changes));
  const std::vector<bool> outlier = every ? std::vector<bool>(now.steps.size())
                                          : outliers_among(replay.predicted_windows(), outliers);
  together.gain = joint_gain(findings, mean_without(outlier, now) - mean_without(outlier, then));
  together.predicted = step_after(together.step, together.gain, warmer);
  diagnosis.together = std::move(together);
}

}  // namespace fathom
