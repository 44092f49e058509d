// warmup-in-window: the recording holds what happens only once.
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "analysis/structure/stretches.h"
#include "analysis/structure/vendor.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/outliers.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/serving_pass.h"
#include "rules/rule.h"

namespace fathom {
namespace warmup_in_window_rule {
namespace {

constexpr std::string_view kDoc =
    "The first steps of a program create contexts, load kernels, tune algorithms, fill allocator "
    "caches and compile; numbers that hold them describe the start, not the training. Fires when "
    "the leading counted steps take more than 1.5 times the median (of at least three), and when "
    "what is done only once takes at least 5 % of the counted time (the bucket warm-up): calls of "
    "a new name and first launches of a kernel of at least 1 ms; what the profiler marks as "
    "loading of code; operators of ATen of at least 1 ms whose later calls take at most a third, "
    "up "
    "to the first launch of a new kernel or with the same arguments; the time in an operator right "
    "before the first launch of a generated kernel; compilation and autotuning in the first "
    "counted "
    "step alone; capture of graphs. Leading long steps are no warm-up where a later one is at "
    "least half "
    "as far above the median, and what is done once is less than half of their excess. Nothing "
    "else "
    "claims this time, and where it is the largest "
    "loss, it is the verdict. diagnose --exclude-warmup leaves the leading long steps out. "
    "Sources: "
    "PyTorch's profiler documentation (wait and warmup of schedule()); CUDA's lazy loading.";

constexpr std::size_t kFewestSteps = 3;
constexpr double kLeastPercent = 5.0;
constexpr double kCriticalPercent = 20.0;

/// What makes the device's library load kernels at the start; "" where no way is known.
std::string_view eager_loading(const RuleContext& rules) {
  if (rules.device < 0 || !speaks_cuda(rules.trace())) return "";
  return speaks_hip(rules.trace()) ? "HIP_ENABLE_DEFERRED_LOADING=0" : "CUDA_MODULE_LOADING=EAGER";
}

Fix fix_of(const RuleContext& rules) {
  const std::string eager(eager_loading(rules));
  Fix fix{.text =
              "Record when the program runs evenly: skip some steps, then warm the profiler up, "
              "then record. " +
              (eager.empty() ? "Where" : eager + " loads kernels at the start; where") +
              " start-up itself is the question, record it apart.",
          .before = "with profile() as prof: train(steps=3)",
          .after =
              "with profile(schedule=schedule(wait=5, warmup=2, active=5)) as prof:\n"
              "    for batch in loader:\n        train_step(batch)\n        prof.step()"};
  if (recorded_by_run(rules.trace())) {
    fix.before = "";
    fix.after = "fathom run --steps wait=5,warmup=2,active=5 -- " + command_of(rules.trace());
  }
  return fix;
}

Finding about(const RuleContext& rules, std::string key, std::string title, Evidence evidence) {
  Finding finding;
  finding.key = std::move(key);
  finding.title = std::move(title);
  finding.family = Family::capture;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(std::move(evidence));
  finding.fix = fix_of(rules);
  finding.verify = "fathom steps TRACE";
  return finding;
}

Finding first_steps(const RuleContext& rules, std::span<const Step* const> steps) {
  Duration sum{};
  for (const Step* const step : steps) sum += step->window.length();
  const double percent = rules.percent(sum);
  Finding finding =
      about(rules, "first-steps",
            std::string("The recording begins with warm-up: ") +
                (steps.size() == 1 ? std::string("the first step takes ")
                                   : "the first " + std::to_string(steps.size()) + " steps take ") +
                percent_text(percent) + " of the counted time",
            {.text = "step " + std::to_string(steps.front()->number) + " takes " +
                     duration_text(steps.front()->window.length()) + ", the median is " +
                     duration_text(median_of(step_lengths(rules))),
             .slices = {},
             .where = steps.front()->window,
             .location = {}});
  finding.weight = percent >= 50 ? Weight::critical : Weight::warning;
  finding.counter_evidence =
      "A long first step that comes again each epoch (workers that start anew) is no warm-up.";
  return finding;
}

/// The part of a stretch that costs: the device idles, or, without one, the main thread is in it.
Duration cost_of(const RuleContext& rules, const OneOff& work) {
  std::vector<Claim> unused;
  if (rules.device >= 0) return claim_idle(rules, work.interval, {Bucket::warm_up}, unused);
  return claim_main_thread(rules, work.interval, {HostBucket::warm_up}, unused);
}

/// Is what makes these leading steps long not what is done only once, while later steps are as
/// long? Then steps just differ, or something kept the host off its processor.
bool comes_again(const RuleContext& rules, std::span<const Step* const> leading) {
  const auto length_of = [](const Step* step) { return step->window.length(); };
  const Duration median = median_of(step_lengths(rules));
  Duration excess{};
  Duration shortest = length_of(leading.front());
  for (const Step* const step : leading) {
    excess += length_of(step) - median;
    shortest = std::min(shortest, length_of(step));
  }
  const auto later = std::span(rules.steps).subspan(leading.size());
  const bool again = std::ranges::any_of(
      later, [&](const Step* step) { return 2 * (length_of(step) - median) >= shortest - median; });
  if (!again) return false;
  Duration once{};
  for (const OneOff& work : rules.accounting.one_off.all()) {
    const bool inside = std::ranges::any_of(leading, [&](const Step* step) {
      return step->window.begin <= work.interval.begin && work.interval.begin < step->window.end;
    });
    if (inside) once += cost_of(rules, work);
  }
  return 2 * once < excess;
}

/// Do the leading steps read prompts, and those after them make single tokens? Then they do
/// something else, each time.
bool reads_prompts(const RuleContext& rules, std::span<const Step* const> leading) {
  const auto pass_of = [&](const Step* step) {
    return step->slice.valid() ? pass_of_annotation(rules.trace().name(step->slice))
                               : Pass::unknown;
  };
  return leading.size() < rules.steps.size() &&
         pass_of(rules.steps[leading.size()]) == Pass::decode &&
         std::ranges::all_of(leading, [&](const Step* step) {
           const Pass pass = pass_of(step);
           return pass == Pass::prefill || pass == Pass::mixed;
         });
}

/// What the kinds of one-off work are called, by OneOffKind.
constexpr std::array<std::string_view, 5> kKinds = {
    "first calls", "first launches", "operators used first", "compilation", "capture of graphs"};

/// What one kind of one-off work costs in counted steps, and the slices that do it.
struct Kind {
  std::vector<SliceId> slices;
  std::vector<Interval> stretches;
};

struct KindEvidence {
  Duration time{};
  Evidence evidence;
};

KindEvidence evidence_of_kind(const RuleContext& rules, OneOffKind kind, Kind work) {
  const SliceId worst = costliest(rules.trace(), work.slices).front();
  const std::vector<Interval> stretches = merged(std::move(work.stretches));
  Duration time{};
  for (const Interval& stretch : stretches)
    time += cost_of(rules, {.slice = {}, .interval = stretch});
  std::ranges::sort(work.slices);
  work.slices.erase(std::unique(work.slices.begin(), work.slices.end()), work.slices.end());
  const std::string text = std::string(kKinds[static_cast<std::size_t>(kind)]) + ", in " +
                           count_text(static_cast<std::int64_t>(stretches.size())) +
                           (stretches.size() == 1 ? " stretch" : " stretches") + ": " +
                           per_step(rules, time) + "; " + std::string(rules.trace().name(worst)) +
                           " takes " + duration_text(rules.trace().slices.duration[worst.row()]);
  return {time, evidence_of(rules, work.slices, text)};
}

std::vector<Finding> first_use(const RuleContext& rules) {
  const Duration time = warm_up_time(rules);
  const double percent = rules.percent(time);
  if (percent < kLeastPercent) return {};
  std::array<Kind, kKinds.size()> kinds;
  for (const OneOff& work : rules.accounting.one_off.all()) {
    if (cost_of(rules, work) <= Duration{}) continue;
    Kind& kind = kinds[static_cast<std::size_t>(work.kind)];
    kind.slices.push_back(work.slice);
    kind.stretches.push_back(work.interval);
  }
  Finding finding =
      about(rules, "first-use",
            "Warm-up in the window: what is done only once takes " + per_step(rules, time), {});
  std::vector<KindEvidence> parts;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].slices.empty()) continue;
    parts.push_back(evidence_of_kind(rules, static_cast<OneOffKind>(i), std::move(kinds[i])));
  }
  std::ranges::stable_sort(parts, std::ranges::greater(), &KindEvidence::time);
  finding.evidence.clear();
  for (KindEvidence& part : parts) finding.evidence.push_back(std::move(part.evidence));
  finding.weight = percent >= kCriticalPercent ? Weight::critical : Weight::warning;
  finding.counter_evidence =
      "That it comes only once is concluded from this recording, which may be short.";
  return {std::move(finding)};
}

Outcome check(const RuleContext& rules) {
  std::vector<Finding> findings = first_use(rules);
  const auto steps = leading_long_steps(rules);
  if (!steps.empty() && !comes_again(rules, steps) && !reads_prompts(rules, steps))
    findings.push_back(first_steps(rules, steps));
  if (findings.empty() && rules.steps.size() < kFewestSteps && rules.device < 0) {
    return Abstention{
        "fewer than three counted steps, and no calls to a device: record more steps, " +
        std::string(steps_marked(rules.trace()))};
  }
  return findings;
}

}  // namespace
}  // namespace warmup_in_window_rule

Rule warmup_in_window() {
  return {.id = "warmup-in-window",
          .title = "Warm-up inside the recording",
          .doc = warmup_in_window_rule::kDoc,
          .check = warmup_in_window_rule::check,
          .every_step = true};
}

}  // namespace fathom
