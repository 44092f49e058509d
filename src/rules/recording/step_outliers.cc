// step-outliers: steps that take far longer than the others, and steps that grow longer.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "analysis/machine/timed_steps.h"
#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/main_thread.h"
#include "rules/common/outliers.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace step_outliers_rule {
namespace {

constexpr std::string_view kDoc =
    "One number for the step time hides steps that are different. A step is an outlier when it is "
    "longer than the third quartile plus 1.5 times the interquartile range and longer than 1.5 "
    "times the median; at least four steps are needed. What makes them longer is shown by the part "
    "of the accounting, and by the operator or kernel, that grew most against the other steps. "
    "Steps drift when, over at least ten, the rank correlation of length and order is beyond 0.7 "
    "and the last third's median is over 10 % longer than the first third's. Of steps that `fathom "
    "run` "
    "only timed outliers are named, too, but not what made them long; and that they grow, from 1.5 "
    "times on, for then few recorded ones are not like the others. The verdict and the savings "
    "of other findings are of the steps that are no outliers. Leading long steps are warm-up and "
    "left to warmup-in-window. Sources: Tukey's fences; "
    "nsys-ai's layer outliers (the same two conditions).";

constexpr std::size_t kFewestSteps = 4;
constexpr std::size_t kFewestForDrift = 10;
constexpr double kCorrelation = 0.7;
constexpr double kLeastDrift = 1.10;
/// Of the steps of a run, which other programs may lengthen for longer than a recording lasts.
constexpr double kLeastDriftOfRun = 1.50;
/// What the outliers cost in all must be at least this share of the time.
constexpr double kLeastPercent = 1.0;

/// Outliers that are named.
constexpr std::size_t kMostNamed = 5;
constexpr std::string_view kFix =
    "Find what those steps do and others do not: evaluation, checkpoints, logging, garbage "
    "collection, longer batches, a new shape that allocates or compiles. Do it less often, in the "
    "background, or after the loop; bucket batches by length; gc.disable() with gc.collect() at a "
    "chosen moment. Caveat: what other programs on the host do shows the same way.";

/// Of steps that wait for the loader.
Fix fix_of_loader() {
  return {
      .text =
          "The loader falls behind in these steps: give it more workers, and more batches ahead "
          "(prefetch_factor) where single ones take long; find what makes these slow (a large "
          "file, a shard that is opened, a cache that is filled). Caveat: each worker takes a "
          "core, and each batch ahead memory.",
      .before = "DataLoader(dataset, num_workers=4)",
      .after = "DataLoader(dataset, num_workers=8, prefetch_factor=4)"};
}

double number(Duration duration) { return static_cast<double>(to_ns(duration)); }

/// Time by part of the accounting in the outliers and in the other steps.
template <std::size_t Parts>
struct Compared {
  std::array<double, Parts> outlying{};
  std::array<double, Parts> usual{};
  /// The part whose mean time per step grew most, and by how much over the outliers.
  [[nodiscard]] std::pair<std::size_t, Duration> grown(std::size_t outliers,
                                                       std::size_t others) const {
    std::size_t best = 0;
    double most = 0;
    for (std::size_t part = 0; part < Parts; ++part) {
      const double more = outlying[part] -
                          usual[part] / static_cast<double>(others) * static_cast<double>(outliers);
      if (more <= most) continue;
      best = part;
      most = more;
    }
    return {best, duration_ns(static_cast<std::int64_t>(most))};
  }
};

Family family_of(Bucket bucket) {
  switch (bucket) {
    case Bucket::input:
      return Family::input;
    case Bucket::allocation:
      return Family::allocation;
    case Bucket::sync:
      return Family::sync;
    case Bucket::communication:
      return Family::communication;
    case Bucket::memcpy:
    case Bucket::memset:
      return Family::transfer;
    case Bucket::compute:
      return Family::compute;
    case Bucket::warm_up:
      return Family::capture;
    default:
      return Family::host;
  }
}

struct Cause {
  std::string_view part;
  Bucket idle = Bucket::compute;  // With a device: the cause of idleness that grew, if it is one.
  Family family = Family::host;
  Duration time{};
  std::vector<Claim> claims;
};

Cause device_cause(const RuleContext& rules, const Outliers& outliers) {
  Compared<kBuckets> parts;
  for (const Step* const step : rules.steps) {
    const Account account =
        fathom::account(rules.context, rules.accounting, rules.device, step->window);
    auto& sums = outliers.has(step) ? parts.outlying : parts.usual;
    for (std::size_t part = 0; part < kBuckets; ++part) sums[part] += number(account.time[part]);
  }
  const auto [part, time] =
      parts.grown(outliers.steps.size(), rules.steps.size() - outliers.steps.size());
  const auto bucket = static_cast<Bucket>(part);
  Cause cause{.part = to_string(bucket), .family = family_of(bucket), .time = time, .claims = {}};
  if (!is_idle(bucket)) return cause;
  cause.idle = bucket;
  Duration left = std::min(time, outliers.excess);
  for (const Step* const step : outliers.steps) {
    left -= claim_idle(rules, step->window, {bucket}, cause.claims, 1.0, left);
  }
  return cause;
}

Cause host_cause(const RuleContext& rules, const Outliers& outliers) {
  Compared<kHostBuckets> parts;
  for (const Step* const step : rules.steps) {
    auto& sums = outliers.has(step) ? parts.outlying : parts.usual;
    for (const HostPiece& piece : main_thread_in(rules, step->window)) {
      sums[static_cast<std::size_t>(piece.bucket)] +=
          number(std::min(piece.interval.end, step->window.end) -
                 std::max(piece.interval.begin, step->window.begin));
    }
  }
  const auto [part, time] =
      parts.grown(outliers.steps.size(), rules.steps.size() - outliers.steps.size());
  const auto bucket = static_cast<HostBucket>(part);
  Cause cause{.part = to_string(bucket), .family = family_of(bucket), .time = time, .claims = {}};
  Duration left = std::min(time, outliers.excess);
  for (const Step* const step : outliers.steps) {
    left -= claim_main_thread(rules, step->window, {bucket}, cause.claims, nullptr, left);
  }
  return cause;
}

/// What takes longer in outliers than in other steps: activities; where idle time grew, the
/// operators that were late, or the frames where Python ran; without a device, operators by own
/// time.
struct Grown {
  std::vector<SliceId> slices;
  Duration time{};
};

Grown grown_work(const RuleContext& rules, const Outliers& outliers, Bucket idle) {
  const Trace& trace = rules.trace();
  const auto ratio = static_cast<double>(outliers.steps.size()) /
                     static_cast<double>(rules.steps.size() - outliers.steps.size());
  std::vector<double> more(trace.strings.size());
  const auto each = [&](const auto& visit) {
    if (is_idle(idle)) {
      const DeviceAccounting& device = *rules.accounting.find(rules.device);
      for (const IdlePiece& piece : device.pieces) {
        // An operator that comes after Python does not take its time.
        const Gap& gap = device.gaps[piece.gap];
        const SliceId late = idle == Bucket::python ? gap.late_frame : gap.late_op;
        if (piece.cause != idle || !late.valid()) continue;
        const Duration time = rules.counted(piece.interval);
        if (time > Duration{}) visit(late, time);
      }
      return;
    }
    if (rules.device >= 0) {
      for_each_activity(rules, [&](SliceId activity, SliceId) {
        visit(activity, rules.accounting.credited[activity.row()]);
      });
      return;
    }
    for (const HostPiece& piece : rules.accounting.host) {
      if (piece.op.valid() && rules.counts(piece.interval.begin)) {
        visit(piece.op, piece.interval.length());
      }
    }
  };
  const auto is_outlying = [&](SliceId slice) {
    const Step* const step = rules.step_at(trace.slices.start[slice.row()]);
    return step != nullptr && outliers.has(step);
  };
  each([&](SliceId slice, Duration time) {
    more[trace.slices.name[slice.row()].row()] += number(time) * (is_outlying(slice) ? 1 : -ratio);
  });
  Grown grown;
  std::size_t name = 0;
  for (std::size_t row = 1; row < more.size(); ++row) {
    const bool first = trace.text(StringId(row)) < trace.text(StringId(name));
    if (more[row] > more[name] || (more[row] == more[name] && first)) name = row;
  }
  if (more[name] <= 0) return grown;
  grown.time = duration_ns(static_cast<std::int64_t>(more[name]));
  each([&](SliceId slice, Duration) {
    if (trace.slices.name[slice.row()].row() == name && is_outlying(slice)) {
      grown.slices.push_back(slice);
    }
  });
  return grown;
}

/// "step 3 (12 ms), 7 (11 ms), …"; `called` says what is numbered.
std::string numbers_text(std::string_view called, std::size_t count, const auto& step_at) {
  std::string text(called);
  for (std::size_t i = 0; i < std::min(count, kMostNamed); ++i) {
    const auto& step = step_at(i);
    text += (i == 0 ? " " : ", ") + std::to_string(step.number) + " (" +
            duration_text(step.window.length()) + ")";
  }
  return text + (count > kMostNamed ? ", …" : "");
}

Finding make(const RuleContext& rules, const Outliers& outliers) {
  Cause cause = rules.device >= 0 ? device_cause(rules, outliers) : host_cause(rules, outliers);
  const Grown grown = grown_work(rules, outliers, cause.idle);
  Finding finding;
  finding.key = "outliers";
  finding.title = counted_noun(outliers.steps.size(), "step") + " of " +
                  std::to_string(rules.steps.size()) + " far longer than the median of " +
                  duration_text(duration_ns(static_cast<std::int64_t>(outliers.median)));
  finding.family = cause.family;
  finding.weight = rules.percent(outliers.excess) >= 10 ? Weight::warning : Weight::note;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  const auto step_at = [&outliers](std::size_t i) -> const Step& { return *outliers.steps[i]; };
  Evidence where{.text = numbers_text("step", outliers.steps.size(), step_at) +
                         "; divided among all steps, their excess is " +
                         per_step(rules, outliers.excess) + ", most of it " +
                         std::string(cause.part) + ", " + per_step(rules, cause.time),
                 .slices = {},
                 .where = outliers.steps.front()->window,
                 .location = {}};
  finding.evidence.push_back(std::move(where));
  if (!grown.slices.empty()) {
    finding.evidence.push_back(evidence_of(rules, grown.slices,
                                           std::string(rules.trace().name(grown.slices.front())) +
                                               " takes " + per_step(rules, grown.time) +
                                               " more than in as many other steps"));
  }
  finding.counter_evidence =
      "A few steps of a short recording need not be typical of the whole run.";
  finding.fix.text = std::string(kFix);
  if (cause.family == Family::input) finding.fix = fix_of_loader();
  finding.verify = "fathom steps TRACE";
  finding.claims = std::move(cause.claims);
  return finding;
}

/// Outliers among all steps of the run, of which few were recorded in depth.
std::optional<Finding> timed_outliers(const RuleContext& rules) {
  const std::optional<TimedSteps>& timed = rules.context.timed_steps();
  if (!timed || timed->outliers.empty()) return {};
  const bool only_first = timed->outliers.size() == 1 && timed->outliers[0].number == timed->first;
  if (only_first) return {};  // warm-up
  double excess = 0;
  for (const RunStep& step : timed->outliers)
    excess += number(step.window.length()) - timed->ns.median;
  const double percent = 100 * excess / (timed->ns.mean * static_cast<double>(timed->ns.count));
  if (percent < kLeastPercent) return {};
  Finding finding;
  finding.key = "timed-outliers";
  finding.title = counted_noun(timed->outliers.size(), timed->requests ? "request" : "step") +
                  " of " + count_text(static_cast<std::int64_t>(timed->ns.count)) +
                  " timed far longer than the median of " +
                  duration_text(duration_ns(static_cast<std::int64_t>(timed->ns.median)));
  finding.family = Family::host;
  finding.weight = Weight::note;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  const auto step_at = [&timed](std::size_t i) -> const RunStep& { return timed->outliers[i]; };
  finding.evidence.push_back({.text = numbers_text("number", timed->outliers.size(), step_at) +
                                      "; above the median they take " + percent_text(percent) +
                                      " of the time of all",
                              .slices = {},
                              .where = {},
                              .location = {}});
  finding.counter_evidence =
      "Only their times are known: not what they did, nor whether it repeats.";
  finding.fix.text = std::string(kFix);
  finding.verify = "fathom steps TRACE";
  return finding;
}

/// Spearman's rank correlation of the lengths with their order; ties count by order.
double correlation(const std::vector<Duration>& lengths) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&lengths](std::size_t i) { return lengths[i]; });
  double sum = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double apart = static_cast<double>(rank) - static_cast<double>(order[rank]);
    sum += apart * apart;
  }
  const auto n = static_cast<double>(lengths.size());
  return 1.0 - 6.0 * sum / (n * (n * n - 1.0));
}

/// The medians of the first and of the last third of steps that grow.
struct Growth {
  double first = 0;
  double last = 0;
};

std::optional<Growth> growth_of(const std::vector<Duration>& lengths, double least) {
  if (lengths.size() < kFewestForDrift) return {};
  const auto third = static_cast<std::ptrdiff_t>(lengths.size() / 3);
  const Growth growth{.first = number(median_of({lengths.begin(), lengths.begin() + third})),
                      .last = number(median_of({lengths.end() - third, lengths.end()}))};
  if (growth.first <= 0 || growth.last < least * growth.first) return {};
  if (correlation(lengths) < kCorrelation) return {};
  return growth;
}

/// All steps of the run grow, of which few were recorded in depth.
std::optional<Finding> timed_drift(const RuleContext& rules) {
  const std::optional<TimedSteps>& timed = rules.context.timed_steps();
  if (!timed || timed->requests) return {};
  std::vector<Duration> lengths;
  for (const RunStep& step : recorded_run_steps(rules.trace()))
    lengths.push_back(step.window.length());
  const std::optional<Growth> growth = growth_of(lengths, kLeastDriftOfRun);
  if (!growth) return {};
  Finding finding;
  finding.key = "timed-drift";
  finding.title = "The run's steps grow longer: " +
                  duration_text(duration_ns(static_cast<std::int64_t>(growth->first))) +
                  " in the first third, " +
                  duration_text(duration_ns(static_cast<std::int64_t>(growth->last))) +
                  " in the last";
  finding.family = Family::host;
  finding.weight = Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back({.text = "medians of " +
                                      count_text(static_cast<std::int64_t>(lengths.size())) +
                                      " timed steps; rank correlation of length and order " +
                                      real_text(correlation(lengths)),
                              .slices = {},
                              .where = {},
                              .location = {}});
  finding.counter_evidence =
      "Batches that are sorted by length, or another program that starts meanwhile, look the "
      "same. What grows is not known: few steps were recorded in depth, and their shares are not "
      "those of later ones.";
  finding.fix = {
      .text =
          "Record late steps, too, and compare: what grows has a larger share in them. Look for "
          "metrics over all earlier answers, lists and tensors that are added to in each step, "
          "caches and logs.",
      .before = "fathom run -- COMMAND",
      .after = "fathom run --steps skip_first=" + std::to_string(lengths.size() * 2 / 3) +
               " -- COMMAND"};
  finding.verify = "fathom steps TRACE";
  return finding;
}

std::optional<Finding> drift(const RuleContext& rules) {
  const std::vector<Duration> lengths = step_lengths(rules);
  const std::optional<Growth> growth = growth_of(lengths, kLeastDrift);
  if (!growth) return {};
  const auto [first, last] = *growth;
  Finding finding;
  finding.key = "drift";
  finding.title = "Steps grow longer: by " + percent_text(100 * (last / first - 1)) +
                  " from the first third to the last";
  finding.family = Family::host;
  finding.weight = Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(
      {.text = "median " + duration_text(duration_ns(static_cast<std::int64_t>(first))) +
               " in the first third, " +
               duration_text(duration_ns(static_cast<std::int64_t>(last))) +
               " in the last; rank correlation " + real_text(correlation(lengths)),
       .slices = {},
       .where = rules.steps.back()->window,
       .location = {}});
  finding.counter_evidence =
      "Batches that are sorted by length, or a device that warms up and lowers its clock, look the "
      "same.";
  finding.fix.text = "Look for what grows: caches, logs, lists, sequences, fragmented memory.";
  if (is_training(rules)) {
    finding.fix = {.text =
                       "Look for what grows: lists of tensors that keep their graphs alive "
                       "(losses appended without .detach()), caches, logs, fragmented memory.",
                   .before = "losses.append(loss)",
                   .after = "losses.append(loss.detach())"};
  }
  finding.verify = "fathom steps TRACE";
  return finding;
}

/// Leading long steps belong to warmup-in-window.
RuleContext after_warm_up(const RuleContext& rules) {
  const std::size_t leading = leading_long_steps(rules).size();
  RuleContext after = rules;
  after.steps.erase(after.steps.begin(),
                    after.steps.begin() + static_cast<std::ptrdiff_t>(leading));
  return after;
}

Outcome check(const RuleContext& every) {
  std::vector<Finding> findings;
  if (std::optional<Finding> timed = timed_outliers(every)) findings.push_back(std::move(*timed));
  if (std::optional<Finding> grow = timed_drift(every)) findings.push_back(std::move(*grow));
  const RuleContext rules = after_warm_up(every);
  if (rules.steps.size() < kFewestSteps) {
    if (!findings.empty()) return findings;
    return Abstention{"fewer than four counted steps without warm-up: record more, " +
                      std::string(steps_marked(every.trace()))};
  }
  const Outliers outliers = find_outliers(rules.steps);
  if (!outliers.steps.empty() && rules.percent(outliers.excess) >= kLeastPercent) {
    findings.push_back(make(rules, outliers));
  }
  if (auto grows = drift(rules)) findings.push_back(std::move(*grows));
  return findings;
}

}  // namespace
}  // namespace step_outliers_rule

Rule step_outliers() {
  return {.id = "step-outliers",
          .title = "Steps that differ from the others",
          .doc = step_outliers_rule::kDoc,
          .check = step_outliers_rule::check,
          .every_step = true};
}

}  // namespace fathom
