// dominant-phase: one phase of training is longer than it should be.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "base/shell_word.h"
#include "rules/common/claims.h"
#include "rules/common/costliest_names.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/node_names.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace dominant_phase_rule {
namespace {

constexpr std::string_view kDoc =
    "The backward pass computes two matrix multiplications for each one of the forward pass, so it "
    "takes about twice as long; the optimizer touches each parameter once. Fires where the forward "
    "pass takes longer than the backward pass (without a device, where other programs may lengthen "
    "either, 1.5 times as long), the backward pass longer than four times the "
    "forward pass and holds no second derivatives, or the optimizer more than 30 % of the step's "
    "device time. Phases are "
    "recognised by annotations, by autograd's sequence numbers and threads. Also names ranges of "
    "the program (record_function) that take 20 % of the step before its forward or after its "
    "backward pass: nothing in them is differentiated. Without a device, operators that are in no "
    "such range, no pass and no optimizer step are named together from 30 % of the step on. "
    "Source: counting of "
    "matrix multiplications; Kaplan et al. (2020).";

constexpr double kLongBackward = 4.0;
/// Without a device: other programs may make either pass longer.
constexpr double kLongForwardOfHost = 1.5;
constexpr double kLongOptimizer = 30.0;
/// A phase that takes less of the step dominates nothing.
constexpr double kLeastPercent = 20.0;
/// A larger share of the step than a passing look at the gradients takes.
constexpr double kLeastOutside = 30.0;
/// Where more is done only once, phases are not what they usually are.
constexpr double kMostOnce = 50.0;

/// What a range around the passes takes.
struct RangeTime {
  Duration time{};
  Blamed blamed;
};

/// Time by phase: of the device by what launched it, else of the main thread.
struct PhaseTimes {
  std::array<Duration, kPhases> time{};
  std::array<Blamed, kPhases> blamed;
  std::vector<RangeTime> ranges;  ///< As Phases::ranges.
  RangeTime outside;  ///< Operators of the main thread in no range, pass and optimizer step.
  std::map<StringId, Duration> outside_by_name;
  [[nodiscard]] double operator[](Phase phase) const {
    return static_cast<double>(to_ns(time[static_cast<std::size_t>(phase)]));
  }
};

/// Does an operator run that is in no phase?
bool is_outside(const RuleContext& rules, const HostPiece& piece) {
  return rules.device < 0 && piece.bucket == HostBucket::other_operators &&
         rules.trace().kind(piece.op) == SliceKind::cpu_op;
}

PhaseTimes look(const RuleContext& rules) {
  PhaseTimes times;
  const Phases& phases = rules.context.phases();
  times.ranges.resize(phases.ranges.size());
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const auto phase = static_cast<std::size_t>(op.valid() ? phases[op] : Phase::other);
    times.blamed[phase].add(rules, activity, op);
    times.time[phase] += rules.accounting.credited[activity.row()];
    const std::size_t range = op.valid() ? phases.range(op) : Phases::kNoRange;
    if (range == Phases::kNoRange) return;
    times.ranges[range].blamed.add(rules, activity, op);
    times.ranges[range].time += rules.accounting.credited[activity.row()];
  });
  for (const HostPiece& piece : rules.accounting.host) {
    if (!piece.op.valid()) continue;
    const auto phase = static_cast<std::size_t>(phases[piece.op]);
    const Duration time = rules.counted(piece.interval);
    times.time[phase] += time;
    if (time > Duration{}) times.blamed[phase].ops.push_back(piece.op);
    const std::size_t range = phases.range(piece.op);
    const bool own = piece.bucket != HostBucket::input && piece.bucket != HostBucket::warm_up;
    if (range == Phases::kNoRange && is_outside(rules, piece) && time > Duration{}) {
      times.outside.time += time;
      times.outside.blamed.activities.push_back(piece.op);
      times.outside.blamed.ops.push_back(piece.op);
      times.outside_by_name[rules.trace().slices.name[piece.op.row()]] += time;
    }
    if (range == Phases::kNoRange || !own || time <= Duration{}) continue;
    times.ranges[range].time += time;
    times.ranges[range].blamed.activities.push_back(piece.op);
    times.ranges[range].blamed.ops.push_back(piece.op);
  }
  return times;
}

Finding make(const RuleContext& rules, const PhaseTimes& times, Phase phase, std::string title,
             std::string advice) {
  const auto index = static_cast<std::size_t>(phase);
  Finding finding;
  finding.key = to_string(phase);
  // What makes the updates slow, where that is known, explains the phase.
  if (phase == Phase::optimizer) finding.cause = "optimizer";
  finding.component = true;
  finding.title = std::move(title);
  finding.family = Family::compute;
  finding.weight = Weight::note;
  finding.confidence = Confidence::low;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, times.blamed[index],
                  std::string(to_string(phase)) + " takes " + per_step(rules, times.time[index])));
  finding.counter_evidence =
      "Phases are recognised by names and autograd's records, which may miss parts.";
  finding.fix.text = std::move(advice);
  finding.verify = "fathom accounting TRACE --group-by phase";
  return finding;
}

/// A range of the program outside of the passes.
Finding make_range(const RuleContext& rules, const RangeTime& times, const Phases::Range& range) {
  const std::string name(rules.trace().text(range.name));
  Finding finding;
  finding.key = name;
  finding.component = true;
  finding.title = "The range " + name + " takes " + per_step(rules, times.time) +
                  (range.before ? ", before the forward pass" : ", after the backward pass");
  finding.about_percent = rules.percent(times.time);
  finding.family = Family::compute;
  finding.weight = Weight::note;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, times.blamed, name + " takes " + per_step(rules, times.time)));
  finding.counter_evidence =
      "Other findings may name parts of this time. That nothing in the range is differentiated is "
      "known from autograd's sequence numbers.";
  finding.fix.text =
      range.before
          ? "What changes the input (augmentation, padding, encoding) can run in the DataLoader's "
            "workers while the model trains, or on the whole batch by a few operators."
          : "Metrics and logging can run every few steps; what is done to each tensor by itself, "
            "torch._foreach_ operators do to all at once.";
  finding.verify = "fathom diagnose TRACE --focus " + shell_word(name);
  return finding;
}

/// What a training step does that neither trains nor was named by the program.
Finding make_outside(const RuleContext& rules, const PhaseTimes& times) {
  const Duration time = times.outside.time;
  Finding finding;
  finding.key = "outside";
  finding.component = true;
  finding.title = "Operators outside of the passes and the optimizer take " + per_step(rules, time);
  finding.about_percent = rules.percent(time);
  finding.family = Family::compute;
  finding.weight = Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  std::vector<std::pair<Duration, StringId>> by_name;
  by_name.reserve(times.outside_by_name.size());
  for (const auto& [name, spent] : times.outside_by_name) by_name.emplace_back(spent, name);
  finding.evidence.push_back(
      evidence_of(rules, times.outside.blamed,
                  "most of it in " + costliest_names(rules, std::move(by_name)) + " per step"));
  finding.counter_evidence =
      "Passes without gradients (targets, samples, a teacher) look the same, and belong to the "
      "method. Other findings may name parts of this time.";
  finding.fix.text =
      "Passes without gradients (a frozen part, a teacher): compute them once, and keep the "
      "results "
      "where their inputs come again. Metrics, statistics of weights for a log, checks and copies "
      "of the weights: do them every N steps. What is computed for each class, tensor or sample by "
      "itself, compute for all at "
      "once (torch.bincount, torch._foreach_ operators). Keep sums in place of all "
      "earlier answers where a metric allows it.";
  finding.verify = "fathom ops TRACE --sort -host_self_ns";
  return finding;
}

Outcome check(const RuleContext& rules) {
  const PhaseTimes times = look(rules);
  const double forward = times[Phase::forward];
  const double backward = times[Phase::backward];
  const Duration optimizer = times.time[static_cast<std::size_t>(Phase::optimizer)];
  if (backward == 0) {
    return Abstention{"no backward pass is in the counted steps"};
  }
  // The first call of the backward pass, or compiling it, is no usual one.
  if (rules.percent(warm_up_time(rules)) > kMostOnce)
    return Abstention{"most of the time is spent on what is done only once: record later steps"};
  const auto matters = [&](double ns) {
    return rules.percent(duration_ns(static_cast<std::int64_t>(ns))) >= kLeastPercent;
  };
  std::vector<Finding> findings;
  const double least = rules.device >= 0 ? backward : kLongForwardOfHost * backward;
  if (forward > least && matters(forward)) {
    findings.push_back(
        make(rules, times, Phase::forward, "The forward pass takes longer than the backward pass",
             "Look for work in the forward pass that needs no gradient (metrics, "
             "checks, augmentation, frozen parts): torch.no_grad() or another place."));
  } else if (forward > 0 && backward > kLongBackward * forward && matters(backward) &&
             !NameSet(rules.trace(), is_twice_backward).any()) {
    findings.push_back(
        make(rules, times, Phase::backward,
             "The backward pass takes " + real_text(backward / forward) + " times the forward pass",
             "Look for checkpointing that recomputes too much, for index and scatter "
             "operators whose backward is slow, and for retain_graph."));
  }
  if (rules.percent(optimizer) > kLongOptimizer) {
    findings.push_back(
        make(rules, times, Phase::optimizer, "The optimizer takes " + per_step(rules, optimizer),
             "Give each update more to follow: a larger batch, or gradients of several batches "
             "accumulated before a step (both change how the model learns); PyTorch's optimizers "
             "have foreach or fused implementations for most kinds."));
  }
  for (std::size_t i = 0; i < times.ranges.size(); ++i) {
    if (rules.percent(times.ranges[i].time) < kLeastPercent) continue;
    findings.push_back(make_range(rules, times.ranges[i], rules.context.phases().ranges[i]));
  }
  if (rules.percent(times.outside.time) >= kLeastOutside)
    findings.push_back(make_outside(rules, times));
  return findings;
}

}  // namespace
}  // namespace dominant_phase_rule

Rule dominant_phase() {
  return {.id = "dominant-phase",
          .title = "A phase that takes more than its usual share",
          .doc = dominant_phase_rule::kDoc,
          .check = dominant_phase_rule::check};
}

}  // namespace fathom
