// Looks predictions up, and judges them by what was measured.
#include "compare/verification.h"

#include <algorithm>
#include <array>

#include "engine/query/nearest.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, 4> kOutcomes = {"confirmed", "less_than_predicted",
                                                       "refuted", "cannot_tell"};
constexpr std::array<std::string_view, 4> kTitles = {"confirmed", "less than predicted", "refuted",
                                                     "cannot tell"};

std::string_view rule_of(std::string_view finding) { return finding.substr(0, finding.find('/')); }

/// The findings of cards and their alternatives that a name stands for.
void collect(const std::vector<RankedFinding>& findings, std::string_view name,
             std::vector<const RankedFinding*>& into) {
  for (const RankedFinding& each : findings) {
    if (each.id == name || rule_of(each.id) == name) into.push_back(&each);
    collect(each.alternatives, name, into);
  }
}

Error no_rule(std::string_view rule) {
  std::vector<std::string_view> ids;
  for (const Rule& each : all_rules()) ids.push_back(each.id);
  const std::string_view meant = nearest(rule, ids);
  return {ErrorCode::not_found,
          "verify: this program has no rule '" + std::string(rule) + "'" +
              (meant.empty() ? "; an older one may have had it: verify with that, or compare both "
                               "recordings with fathom compare"
                             : "; did you mean '" + std::string(meant) + "'?")};
}

/// Why a rule of that name has no finding here.
Error no_finding(const Diagnosis& diagnosis, const std::string& name) {
  const std::string_view rule = rule_of(name);
  if (find_rule(rule) == nullptr) return no_rule(rule);
  std::string why = "the rule found nothing in it";
  for (const RuleResult& result : diagnosis.rules) {
    if (result.rule != rule) continue;
    if (result.kind == RuleResult::Kind::abstained)
      why = "the rule could not judge: " + result.reason;
    if (result.kind == RuleResult::Kind::found) why = "the rule found something else in it";
  }
  return {ErrorCode::not_found, "verify: there is no finding '" + name + "' in " + diagnosis.input +
                                    ": " + why + "; fathom diagnose lists the findings"};
}

double ratio_of(Duration part, Duration whole) {
  return static_cast<double>(to_ns(part)) / static_cast<double>(to_ns(whole));
}

/// Savings add up; the width that recordings differ by counts once, with the largest finding.
PredictedSaving sum_of(std::vector<const RankedFinding*> findings) {
  PredictedSaving out;
  std::ranges::stable_sort(findings, std::ranges::greater(), &RankedFinding::upper_bound);
  for (const RankedFinding* const each : findings) {
    out.findings.push_back(each->id);
    out.titles.push_back(each->finding.title);
    const RankedFinding::StepTime& step = *each->predicted;
    // Of further findings the low end without the widening: their bound.
    const Duration low = each == findings.front() ? step.low : each->step - each->upper_bound;
    out.low -= 1 - ratio_of(low, each->step);
    out.likely -= 1 - ratio_of(step.likely, each->step);
    out.high -= 1 - ratio_of(step.high, each->step);
  }
  out.low = std::max(out.low, 0.0);
  out.likely = std::max(out.likely, 0.0);
  return out;
}

/// Of a measurement that may decide.
void decide(const CheckedBudget& step, Verification& out) {
  const MeasuredRatio measured{.interval = *out.interval,
                               .estimate = out.by_pairs ? *out.by_pairs : out.ratio().value_or(1)};
  out.outcome = outcome_of(out.prediction, measured);
  if (out.outcome == VerifyOutcome::cannot_tell && measured.interval.high < 1)
    out.reason += std::string(out.reason.empty() ? "" : "; ") +
                  "it is faster, but what was measured lies outside of what was predicted, on the "
                  "side of less, and its interval reaches into it";
  if (!step.clock_ratio) return;
  const double clock = *step.clock_ratio;
  const MeasuredRatio cycles{
      .interval = {.low = measured.interval.low * clock, .high = measured.interval.high * clock},
      .estimate = measured.estimate * clock};
  const bool same = outcome_of(out.prediction, cycles) == out.outcome;
  const std::string by_cycles =
      step.other_clock + ", and by cycles the outcome is " + (same ? "the same" : "another");
  // Of the budget, whose judgement is another thing than the outcome, this was said already.
  if (out.reason.empty() || out.reason.starts_with(step.other_clock)) {
    out.reason = by_cycles;
  } else {
    out.reason += "; " + by_cycles;
  }
  if (!same) out.outcome = VerifyOutcome::cannot_tell;
}

}  // namespace

std::string_view to_string(VerifyOutcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

std::string_view title_of(VerifyOutcome outcome) {
  return kTitles[static_cast<std::size_t>(outcome)];
}

std::optional<double> Verification::ratio() const {
  if (!base_ns || !now_ns || !(*base_ns > 0)) return std::nullopt;
  return *now_ns / *base_ns;
}

Result<PredictedSaving> prediction_of(const Diagnosis& diagnosis,
                                      std::span<const std::string> names) {
  std::vector<const RankedFinding*> found;
  for (const std::string& name : names) {
    std::vector<const RankedFinding*> of_name;
    collect(diagnosis.findings, name, of_name);
    if (of_name.empty()) return no_finding(diagnosis, name);
    for (const RankedFinding* const each : of_name) {
      if (each->predicted && std::ranges::find(found, each) == found.end()) found.push_back(each);
    }
  }
  if (found.empty())
    return Error{ErrorCode::not_found,
                 "verify: '" + names.front() + "' predicts no saving in " + diagnosis.input +
                     ", so there is nothing to verify; fathom compare shows what changed"};
  return sum_of(std::move(found));
}

VerifyOutcome outcome_of(const PredictedSaving& prediction, const MeasuredRatio& measured) {
  const bool faster = measured.interval.high < 1;
  if (measured.interval.low > prediction.high)
    return faster ? VerifyOutcome::less : VerifyOutcome::refuted;
  return faster && measured.estimate <= prediction.high ? VerifyOutcome::confirmed
                                                        : VerifyOutcome::cannot_tell;
}

Verification verify_runs(const PredictedSaving& prediction, const Runs& base, const Runs& now,
                         Claims claims) {
  const Result<Budget> no_slower = parse_budget("step_time+0%");
  const std::vector<CheckReference> references = {{.name = "base", .when = {}, .runs = base}};
  const CheckedRuns checked =
      check_runs(references, now, std::span(&*no_slower, 1), Claims::within_runs);
  const Check& check = checked.checks.front();
  const CheckedBudget& step = check.budgets.front();
  Verification out{.prediction = prediction,
                   .base = check.base,
                   .now = checked.now,
                   .base_ns = step.base,
                   .now_ns = step.now,
                   .interval = {},
                   .by_pairs = {},
                   .basis = step.basis,
                   .reason = step.reason};
  if (!step.interval || !step.limit) return out;
  out.interval =
      Bounds{.low = step.interval->low / *step.limit, .high = step.interval->high / *step.limit};
  if (step.estimate) out.by_pairs = *step.estimate / *step.limit;
  if (step.missing.empty() && (step.covers_runs || claims == Claims::within_runs))
    decide(step, out);
  return out;
}

}  // namespace fathom
