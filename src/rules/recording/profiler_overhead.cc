// profiler-overhead: recording itself takes so much time that the verdict may be about it.
#include <algorithm>

#include "analysis/machine/recording_overhead.h"
#include "base/quantity_text.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/recording_cost.h"
#include "rules/rule.h"

namespace fathom {
namespace profiler_overhead_rule {
namespace {

constexpr std::string_view kDoc =
    "Recording slows the host, and a host that is slowed looks host-bound. Two parts are counted: "
    "what the profiler marks as its own overhead (flushing buffers, loading functions), and an "
    "estimate of what it costs to record the busiest thread's events: 0.6 µs per operator or call "
    "and 0.4 µs per Python frame, as measured with PyTorch 2.15 on a server's core (0.44 to 0.7 "
    "and 0.4 to 1 µs), counted only as far as the device waits for the host. A run of `fathom run` "
    "has measured instead how long steps took that were not recorded, and that measurement counts "
    "where its interval lies above 1. Without a device it does not count where it is more than 10 "
    "times the estimate: then the machine was busier meanwhile. "
    "Warns from 10 % of the step; from 20 % on the verdict is as much about the profiler as about "
    "the program. Source of the thresholds: nsys-ai.";

constexpr double kWarnPercent = 10.0;
constexpr double kLimitedPercent = 20.0;
/// Time during which a slower host matters.
Duration host_time(const RuleContext& rules) {
  const DeviceAccounting* const device = rules.accounting.find(rules.device);
  if (device == nullptr) return rules.window();
  Duration sum{};
  for (const IdlePiece& piece : device->pieces) {
    if (piece.cause == Bucket::dispatch || piece.cause == Bucket::python) {
      sum += rules.counted(piece.interval);
    }
  }
  return sum;
}

/// What the run itself measured, where that is more than its steps differ by anyway and recording
/// can be why.
std::optional<Duration> measured_overhead(const RuleContext& rules,
                                          const std::optional<RecordingOverhead>& measured) {
  if (!measured) return {};
  if (!measured->shows()) return Duration{};
  if (!may_be_due_to_recording(rules, *measured)) return {};
  const double window = static_cast<double>(to_ns(rules.window()));
  return duration_ns(static_cast<std::int64_t>(window * measured->percent() / 100));
}

/// Names only what this recording holds: that can be left out.
Fix fix_of(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  std::string options;
  const auto add = [&options](bool recorded, std::string_view option) {
    if (recorded) options += (options.empty() ? "" : ", ") + std::string(option);
  };
  add(has_frames(rules), "with_stack");
  add(has_shapes(trace), "record_shapes");
  add(!trace.memory.time.empty(), "profile_memory");
  Fix fix{.text = "Time the steps without a profiler and compare. " +
                  (options.empty() ? std::string("Record fewer, longer steps.")
                                   : "Record less per event (here: " + options +
                                         "), each only for the question that needs it; fewer, "
                                         "longer steps.") +
                  (recorded_by_run(trace) ? " A warm-up (--steps warmup=1)"
                                          : " A warm-up of schedule()") +
                  " lets buffers be allocated before the first counted step.",
          .before = "profile()",
          .after = "profile(schedule=schedule(wait=1, warmup=1, active=3))"};
  if (recorded_by_run(trace)) {
    fix.before = "";
    fix.after = "fathom run --steps wait=1,warmup=1,active=3 -- " + command_of(trace);
  } else if (!options.empty()) {
    std::string given;
    for (const char c : options) given += c == ',' ? std::string("=True,") : std::string(1, c);
    fix.before = "profile(" + given + "=True)";
  }
  return fix;
}

Outcome check(const RuleContext& rules) {
  const MarkedOverhead marked = marked_overhead(rules);
  const EventCounts counts = busiest_thread(rules);
  if (marked.slices.empty() && counts.operators + counts.frames == 0) {
    return Abstention{"no host events were recorded in the counted steps"};
  }
  const Duration estimate = std::min(counts.cost(), host_time(rules));
  const std::optional<RecordingOverhead> run = recording_overhead(rules.trace());
  const std::optional<Duration> measured = measured_overhead(rules, run);
  const Duration time = measured.value_or(std::min(marked.time + estimate, rules.window()));
  const double percent = rules.percent(time);
  if (percent < kWarnPercent) return std::vector<Finding>{};
  const bool limited = percent >= kLimitedPercent;
  Finding finding;
  finding.title = "Recording takes about " + per_step(rules, time) +
                  (limited ? ": the verdict is limited" : "");
  finding.family = Family::capture;
  finding.weight = limited ? Weight::critical : Weight::warning;
  finding.confidence = measured || marked.time > estimate ? Confidence::high : Confidence::low;
  finding.effort = Effort::flag;
  if (measured) {
    finding.evidence.push_back(
        {.text = overhead_sentence(*run), .slices = {}, .where = {}, .location = {}});
  }
  if (!marked.slices.empty()) {
    finding.evidence.push_back(evidence_of(
        rules, marked.slices, "marked as the profiler's own: " + per_step(rules, marked.time)));
  }
  const std::int64_t steps = step_count(rules);
  finding.evidence.push_back(
      {.text = "estimated: " + per_step(rules, estimate) + " for recording " +
               count_text(counts.operators / steps) + " operators and calls and " +
               count_text(counts.frames / steps) + " Python frames per step on one thread",
       .slices = {},
       .where = {},
       .location = {}});
  finding.counter_evidence =
      measured ? "It is measured by " + count_text(run->unprofiled_steps) +
                     " steps that were not recorded, and these may have done other work."
               : "The cost per event is that of another machine; the step time without a profiler "
                 "decides.";
  finding.fix = fix_of(rules);
  finding.verify = "fathom health TRACE";
  std::vector<Finding> findings;
  findings.push_back(std::move(finding));
  return findings;
}

}  // namespace
}  // namespace profiler_overhead_rule

Rule profiler_overhead() {
  return {.id = "profiler-overhead",
          .title = "Recording that distorts what it records",
          .doc = profiler_overhead_rule::kDoc,
          .check = profiler_overhead_rule::check,
          .every_step = true};
}

}  // namespace fathom
