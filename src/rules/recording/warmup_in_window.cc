// warmup-in-window: the recording holds what happens only once.
#include <algorithm>

#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/stretches.h"
#include "rules/rule.h"

namespace fathom {
namespace warmup_in_window_rule {
namespace {

constexpr std::string_view kDoc =
    "The first steps of a program create contexts, load kernels, tune algorithms, fill allocator "
    "caches and compile; numbers that hold them describe the start, not the training. Fires when "
    "the leading counted steps take more than 1.5 times the median (of at least three), and when "
    "calls that do something for the first time take at least 5 % of the counted time: the first "
    "launch of a kernel or the first call of its name that takes at least 1 ms while the device "
    "idles, and what the profiler marks as lazy loading of functions. diagnose --exclude-warmup "
    "leaves the leading long steps out. Sources: PyTorch's profiler documentation (wait and warmup "
    "of schedule()); CUDA's lazy loading.";

constexpr double kLongFirst = 1.5;
constexpr std::size_t kFewestSteps = 3;
constexpr double kLeastPercent = 5.0;
constexpr double kCriticalPercent = 20.0;
constexpr Duration kLongCall = duration_ns(1'000'000);

constexpr std::initializer_list<Bucket> kAnyIdle = {
    Bucket::input,          Bucket::allocation,  Bucket::sync,
    Bucket::dispatch,       Bucket::python,      Bucket::dependency,
    Bucket::launch_latency, Bucket::device_wait, Bucket::host_unknown};

Finding about(std::string key, std::string title, Evidence evidence) {
  Finding finding;
  finding.key = std::move(key);
  finding.title = std::move(title);
  finding.family = Family::capture;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(std::move(evidence));
  finding.fix = {
      .text =
          "Record when the program runs evenly: skip some steps, then warm the profiler up, "
          "then record. CUDA_MODULE_LOADING=EAGER loads kernels at the start; where start-up "
          "itself is the question, record it apart.",
      .before = "with profile() as prof: train(steps=3)",
      .after =
          "with profile(schedule=schedule(wait=5, warmup=2, active=5)) as prof:\n"
          "    for batch in loader:\n        train_step(batch)\n        prof.step()"};
  finding.verify = "fathom steps TRACE";
  return finding;
}

/// The leading counted steps that are longer than usual.
std::span<const Step* const> long_first(const RuleContext& rules) {
  if (rules.steps.size() < kFewestSteps) return {};
  const double limit = kLongFirst * static_cast<double>(to_ns(median_of(step_lengths(rules))));
  const auto usual = std::ranges::find_if(rules.steps, [limit](const Step* step) {
    return static_cast<double>(to_ns(step->window.length())) <= limit;
  });
  return {rules.steps.begin(), usual};
}

Finding first_steps(const RuleContext& rules, std::span<const Step* const> steps) {
  Duration sum{};
  for (const Step* const step : steps) sum += step->window.length();
  const double percent = rules.percent(sum);
  Finding finding =
      about("first-steps",
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

/// Calls that do something for the first time in this recording.
class FirstCalls {
 public:
  explicit FirstCalls(const RuleContext& rules) : rules_(rules) {
    const Trace& trace = rules.trace();
    std::vector<bool> seen(trace.strings.size());
    first_launch_.resize(trace.slices.size());
    for (const SliceId activity : rules.context.links().activities) {
      const std::size_t name = trace.slices.name[activity.row()].row();
      const SliceId launch = rules.context.links().launch[activity.row()];
      if (seen[name] || trace.kind(activity) != SliceKind::kernel || !launch.valid()) continue;
      seen[name] = true;
      first_launch_[launch.row()] = true;
    }
    earliest_.resize(trace.strings.size(), Time::max());
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
      if (!is_call(SliceId(row))) continue;
      Time& first = earliest_[trace.slices.name[row].row()];
      first = std::min(first, trace.slices.start[row]);
    }
  }

  /// Long calls in counted steps during which the device idled.
  [[nodiscard]] std::vector<SliceId> all() const {
    const Trace& trace = rules_.trace();
    std::vector<SliceId> found;
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
      const SliceId call(row);
      if (trace.slices.duration[row] < kLongCall || !is_call(call)) continue;
      if (is_first(call) && rules_.counts(trace.slices.start[row]) && idles(call)) {
        found.push_back(call);
      }
    }
    return found;
  }

 private:
  [[nodiscard]] bool is_call(SliceId slice) const {
    const SliceKind kind = rules_.trace().kind(slice);
    return kind == SliceKind::runtime || kind == SliceKind::driver;
  }
  [[nodiscard]] bool is_first(SliceId call) const {
    const Trace& trace = rules_.trace();
    switch (rules_.context.links().call_kind(trace, call)) {
      case CallKind::synchronize:
      case CallKind::copy_blocking:
      case CallKind::fill_blocking:
        return false;
      default:
        return first_launch_[call.row()] ||
               earliest_[trace.slices.name[call.row()].row()] == trace.slices.start[call.row()];
    }
  }
  [[nodiscard]] bool idles(SliceId call) const {
    if (rules_.device < 0) return true;
    std::vector<Claim> unused;
    const Interval own = interval_of(rules_.trace(), call);
    return 2 * claim_idle(rules_, own, kAnyIdle, unused) >= own.length();
  }

  const RuleContext& rules_;
  std::vector<bool> first_launch_;
  std::vector<Time> earliest_;  // By name.
};

/// What the profiler marks as loading of functions, in counted steps.
std::vector<SliceId> lazy_loading(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet names(
      trace, [](std::string_view name) { return name.starts_with("Lazy Function Loading"); });
  std::vector<SliceId> found;
  if (!names.any()) return found;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (names.contains(trace.slices.name[row]) && trace.kind(SliceId(row)) == SliceKind::overhead &&
        rules.counts(trace.slices.start[row])) {
      found.push_back(SliceId(row));
    }
  }
  return found;
}

std::vector<Finding> first_use(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  std::vector<SliceId> calls = FirstCalls(rules).all();
  const std::vector<SliceId> loading = lazy_loading(rules);
  calls.insert(calls.end(), loading.begin(), loading.end());
  std::vector<Interval> stretches;
  stretches.reserve(calls.size());
  for (const SliceId call : calls) stretches.push_back(interval_of(trace, call));
  Duration time{};
  for (const Interval& stretch : merged(std::move(stretches))) time += rules.counted(stretch);
  const double percent = rules.percent(time);
  if (percent < kLeastPercent) return {};
  const SliceId worst = costliest(trace, calls).front();
  Finding finding = about(
      "first-use",
      "Things done for the first time take " + per_step(rules, time) + ": warm-up is recorded",
      evidence_of(rules, calls,
                  counted_noun(calls.size(), "first call") + "; " + std::string(trace.name(worst)) +
                      " takes " + duration_text(trace.slices.duration[worst.row()])));
  finding.weight = percent >= kCriticalPercent ? Weight::critical : Weight::warning;
  finding.counter_evidence =
      "That it comes only once is concluded from this recording, which may be short.";
  return {std::move(finding)};
}

Outcome check(const RuleContext& rules) {
  std::vector<Finding> findings = first_use(rules);
  const auto steps = long_first(rules);
  if (!steps.empty()) findings.push_back(first_steps(rules, steps));
  if (findings.empty() && rules.steps.size() < kFewestSteps && rules.device < 0) {
    return Abstention{
        "fewer than three counted steps, and no calls to a device: record more steps, each ended "
        "by prof.step()"};
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
